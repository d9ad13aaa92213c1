// How soon a waiter gets a lock: two clients in one process, one holds, the other waits.
//
//   wait_times release|expire ROUNDS ADDRESS …
//
// release: the holder releases while the other waits; the time from then until it has the lock.
// expire:  the holder lets the lock run out; the time from when a quorum's locks have, which is a
//          TTL after the holder knew that it had it at the latest. Never early, or the exit is 1.
// Prints the medians and the most, and that of a round trip, in microseconds.
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "base/text/number.h"
#include "coordinator/client/lock_client.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace redlock;
using namespace redlock::coordinator;

constexpr Duration kTtlToRelease = 30s;
constexpr Duration kHeldFor = 20ms;  // long enough for who polls to be seen
constexpr Duration kTtlToExpire = 100ms;

class Rounds {
 public:
  explicit Rounds(const std::vector<NodeAddress>& nodes)
      : holder_(loop_, {.nodes = nodes}), waiter_(loop_, {.nodes = nodes}) {
    for (LockClient* client : {&holder_, &waiter_}) {
      client->when_ready([this] { loop_.stop(); });
      loop_.run();
    }
  }

  std::optional<Duration> release() {
    const auto lock = acquire(holder_, kTtlToRelease, false);
    if (!lock) return std::nullopt;
    Instant released_at{};
    net::Timer timer(loop_, net::ClockKind::boottime, [&] {
      released_at = LockClient::now();
      holder_.release(*lock, [](const ReleaseResult&) {});
    });
    timer.set(later(LockClient::now(), kHeldFor));
    const auto got = acquire(waiter_, kTtlToRelease, true);
    if (!got || released_at == Instant{}) return std::nullopt;
    const Duration took = got_at_ - released_at;
    if (!give_back(waiter_, *got)) return std::nullopt;
    return took;
  }

  std::optional<Duration> expire() {
    const Instant before = LockClient::now();
    if (!acquire(holder_, kTtlToExpire, false)) return std::nullopt;
    const Instant over_at = got_at_ + kTtlToExpire;
    const auto got = acquire(waiter_, kTtlToRelease, true);
    if (!got || got_at_ < before + kTtlToExpire) return std::nullopt;
    const Duration took = got_at_ - over_at;
    if (!give_back(waiter_, *got)) return std::nullopt;
    return took;
  }

  // A question to all nodes, and their answers.
  Duration round_trip() {
    const Instant start = LockClient::now();
    holder_.survey(std::array{RequestKind::get}, "nobody's", [this](const auto&) { loop_.stop(); });
    loop_.run();
    return LockClient::now() - start;
  }

 private:
  std::optional<HeldLock> acquire(LockClient& client, Duration ttl, bool waits) {
    std::optional<HeldLock> lock;
    Patience patience;
    if (waits) patience.wait = std::nullopt;
    client.acquire({.name = "printer", .ttl = ttl, .patience = patience},
                   [&](const AcquireResult& result) {
                     got_at_ = LockClient::now();
                     if (result.outcome == AcquisitionOutcome::acquired) lock = result.lock;
                     loop_.stop();
                   });
    loop_.run();
    return lock;
  }

  // Until every node has answered: the next round begins with a free lock.
  bool give_back(LockClient& client, const HeldLock& lock) {
    bool released = false;
    client.release(lock, [&](const ReleaseResult& result) {
      released = result.outcome == ReleaseOutcome::released;
      loop_.stop();
    });
    loop_.run();
    while (waiter_.group().releases_pending() + holder_.group().releases_pending() > 0) {
      round_trip();
    }
    return released;
  }

  net::Loop loop_;
  LockClient holder_;
  LockClient waiter_;
  Instant got_at_{};
};

std::int64_t microseconds(Duration d) {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

Duration median(std::vector<Duration> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int usage() {
  fmt::print(stderr, "usage: wait_times release|expire ROUNDS ADDRESS …\n");
  return 64;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() < 3 || (words[0] != "release" && words[0] != "expire")) return usage();
  const auto rounds = parse_int64(words[1]);
  std::vector<NodeAddress> nodes;
  for (std::size_t i = 2; i < words.size(); ++i) {
    auto address = parse_node_address(words[i]);
    if (!address) return usage();
    nodes.push_back(std::move(address).value());
  }
  if (!rounds || *rounds < 1) return usage();

  Rounds world(nodes);
  std::vector<Duration> times;
  std::vector<Duration> round_trips;
  for (std::int64_t i = 0; i < *rounds; ++i) {
    round_trips.push_back(world.round_trip());
    const auto took = words[0] == "release" ? world.release() : world.expire();
    if (!took) {
      fmt::print(stderr, "round {} did not go as it should\n", i);
      return 1;
    }
    times.push_back(*took);
  }
  fmt::print("median_us={} most_us={} round_trip_us={}\n", microseconds(median(times)),
             microseconds(*std::max_element(times.begin(), times.end())),
             microseconds(median(round_trips)));
  return 0;
}
