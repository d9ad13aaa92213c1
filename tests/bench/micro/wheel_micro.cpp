// The expiry wheel: records linked by their deadlines, moved, and popped when they are due.
#include "base/random.h"
#include "server/locks/expiry_wheel.h"

#include <benchmark/benchmark.h>
#include <vector>

namespace redlock::server {
namespace {

constexpr std::size_t kRecordBytes = 81;
constexpr Instant kNow(1h);

std::vector<LockRef> records_of(LockArena& arena, std::int64_t count) {
  Random random(1);
  std::vector<LockRef> refs;
  for (std::int64_t i = 0; i < count; ++i) {
    refs.push_back(arena.allocate(kRecordBytes));
    arena.at(refs.back())
        .set_deadline(kNow + Duration(static_cast<std::int64_t>(random.below(30'000'000'000))));
  }
  return refs;
}

void relink_record(benchmark::State& state) {
  LockArena arena;
  ExpiryWheel wheel(arena);
  const auto refs = records_of(arena, state.range(0));
  for (const LockRef ref : refs) wheel.link(ref, kNow);
  std::size_t next = 0;
  for (auto _ : state) {
    wheel.unlink(refs[next]);
    Lock& lock = arena.at(refs[next]);
    lock.set_deadline(lock.deadline() + 1ms);
    wheel.link(refs[next], kNow);
    next = next + 1 < refs.size() ? next + 1 : 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(relink_record)->Arg(1'000)->Arg(1'000'000);

// From the link of a record to its pop, with all the moves between: time goes on in steps of 10 ms.
void link_and_pop_records(benchmark::State& state) {
  LockArena arena;
  const auto refs = records_of(arena, state.range(0));
  for (auto _ : state) {
    ExpiryWheel wheel(arena);
    for (const LockRef ref : refs) wheel.link(ref, kNow);
    std::size_t popped = 0;
    for (Instant now = kNow; popped < refs.size(); now += 10ms) {
      std::size_t budget = refs.size() * 8;
      while (wheel.pop_due(now, budget) != 0) ++popped;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(link_and_pop_records)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace redlock::server
