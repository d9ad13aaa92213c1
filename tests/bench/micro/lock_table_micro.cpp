// The lock table: with a thousand locks, which all fit into a cache, and with a million,
// which do not.
#include "base/random.h"
#include "server/locks/lock_table.h"

#include <benchmark/benchmark.h>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr Instant kNow(1h);
constexpr Instant kDeadline = kNow + 30s;
const std::string kValue(40, 'v');

// Keys in an order that no prefetcher foresees.
std::vector<std::string> keys_of(std::int64_t count) {
  std::vector<std::string> keys;
  for (std::int64_t i = 0; i < count; ++i) keys.push_back(fmt::format("lock:{:012}", i));
  Random random(1);
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
  return keys;
}

void fill(LockTable& table, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) table.put(key, kValue, kDeadline, 1, kNow);
}

// Does it with one key after the other of a table that has them all.
template <class Work>
void with_each_key(benchmark::State& state, Work work) {
  LockTable table(1);
  const auto keys = keys_of(state.range(0));
  fill(table, keys);
  std::size_t next = 0;
  for (auto _ : state) {
    work(table, keys[next]);
    next = next + 1 < keys.size() ? next + 1 : 0;
  }
  state.SetItemsProcessed(state.iterations());
}

void find_lock(benchmark::State& state) {
  with_each_key(state, [](LockTable& table, const std::string& key) {
    benchmark::DoNotOptimize(table.find(key, kNow));
  });
}
BENCHMARK(find_lock)->Arg(1'000)->Arg(1'000'000);

// Taken and given back again, among others that stay.
void put_and_erase_lock(benchmark::State& state) {
  with_each_key(state, [](LockTable& table, const std::string& key) {
    table.erase(key, kNow);
    benchmark::DoNotOptimize(table.put(key, kValue, kDeadline, 1, kNow));
  });
}
BENCHMARK(put_and_erase_lock)->Arg(1'000)->Arg(1'000'000);

void extend_lock(benchmark::State& state) {
  with_each_key(state, [deadline = kDeadline](LockTable& table, const std::string& key) mutable {
    table.set_deadline(key, deadline += 1us, kNow);
  });
}
BENCHMARK(extend_lock)->Arg(1'000)->Arg(1'000'000);

// Locks that ran out, given back by nobody's looking.
void reclaim_locks(benchmark::State& state) {
  const auto keys = keys_of(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    LockTable table(1);
    fill(table, keys);
    state.ResumeTiming();
    while (table.reclaim(kDeadline + 1s, 1'000).count > 0) {
    }
    state.PauseTiming();  // its destructor
    if (table.size() != 0) state.SkipWithError("locks are left");
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(reclaim_locks)->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace redlock::server
