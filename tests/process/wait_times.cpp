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
#include "coordinator/client/holder.h"
#include <redlock/client.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace redlock;
using coordinator::holder_now;

constexpr Duration kTtlToRelease = 30s;
constexpr Duration kHeldFor = 20ms;  // long enough for who polls to be seen
constexpr Duration kTtlToExpire = 100ms;

class Rounds {
 public:
  explicit Rounds(const ClientOptions& options)
      : holder_(Client::start_on(loop_.raw(), options).value()),
        waiter_(Client::start_on(loop_.raw(), options).value()) {
    for (Client* client : {&holder_, &waiter_}) {
      client->when_ready([this] { loop_.stop(); });
      loop_.run();
    }
  }

  std::optional<Duration> release() {
    const auto lock = acquire(holder_, kTtlToRelease, false);
    if (!lock) return std::nullopt;
    Instant released_at{};
    net::Timer timer(loop_, net::ClockKind::boottime, [&] {
      released_at = holder_now();
      holder_.release(*lock, [](const Result<Done, Error>&) {});
    });
    timer.set(later(holder_now(), kHeldFor));
    const auto got = acquire(waiter_, kTtlToRelease, true);
    if (!got || released_at == Instant{}) return std::nullopt;
    const Duration took = got_at_ - released_at;
    if (!give_back(waiter_, *got)) return std::nullopt;
    return took;
  }

  std::optional<Duration> expire() {
    const Instant before = holder_now();
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
    const Instant start = holder_now();
    holder_.holder("nobody's", [this](const auto&) { loop_.stop(); });
    loop_.run();
    return holder_now() - start;
  }

 private:
  std::optional<Lock> acquire(Client& client, Duration ttl, bool waits) {
    std::optional<Lock> lock;
    AcquireOptions options{.ttl = ttl};
    if (waits) options.wait = std::nullopt;
    client.acquire("printer", options, [&](const Result<Lock, Error>& got) {
      got_at_ = holder_now();
      if (got) lock = got.value();
      loop_.stop();
    });
    loop_.run();
    return lock;
  }

  // Until every node has answered: the next round begins with a free lock.
  bool give_back(Client& client, const Lock& lock) {
    bool released = false;
    client.release(lock, [&](const Result<Done, Error>& done) {
      released = done.has_value();
      loop_.stop();
    });
    loop_.run();
    for (Client* one : {&waiter_, &holder_}) {
      one->finish([this] { loop_.stop(); });
      loop_.run();
    }
    return released;
  }

  net::Loop loop_;
  Client holder_;
  Client waiter_;
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
  if (!rounds || *rounds < 1) return usage();

  Rounds world({.nodes = {words.begin() + 2, words.end()}});
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
