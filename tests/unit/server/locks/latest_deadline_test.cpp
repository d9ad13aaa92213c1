#include "server/locks/latest_deadline.h"

#include "base/random.h"

#include <set>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr Instant kNow(24h);

}  // namespace

TEST_CASE("the latest deadline is told, rounded up to 10 ms, and falls when its lock is gone") {
  LatestDeadline latest(60s);
  CHECK(latest.find(kNow) == Instant{});
  latest.add(kNow + 30s + 1ns, kNow);
  latest.add(kNow + 5s, kNow);
  CHECK(latest.find(kNow) == kNow + 30s + 10ms);
  latest.remove(kNow + 30s + 1ns);
  CHECK(latest.has_fallen());
  CHECK(latest.find(kNow) == kNow + 5s);
  CHECK_FALSE(latest.has_fallen());
}

TEST_CASE("a lock that is not the last, or one of several in its tick, changes nothing") {
  LatestDeadline latest(60s);
  latest.add(kNow + 30s, kNow);
  latest.add(kNow + 30s - 1ns, kNow);
  latest.add(kNow + 5s, kNow);
  latest.remove(kNow + 5s);
  latest.remove(kNow + 30s);
  CHECK_FALSE(latest.has_fallen());
  CHECK(latest.find(kNow) == kNow + 30s);
}

TEST_CASE("in the first instants of a clock there is no tick to look at") {
  LatestDeadline latest(60s);
  CHECK(latest.find(Instant{}) == Instant{});
  CHECK(latest.find(Instant(1ms)) == Instant{});
}

TEST_CASE("a deadline that has passed counts for none") {
  LatestDeadline latest(60s);
  latest.add(kNow + 20ms, kNow);
  CHECK(latest.find(kNow + 20ms) == Instant{});
}

TEST_CASE("what is told is never before the last deadline, and at most a tick after it") {
  const Duration max_ttl = GENERATE(Duration(1ms), Duration(50ms), Duration(60s), Duration(1h));
  const bool has_locks_of_before = GENERATE(false, true);  // with TTLs of up to 50 max-ttl
  CAPTURE(max_ttl, has_locks_of_before);
  Random random(7);
  LatestDeadline latest(max_ttl);
  std::multiset<Instant> model;
  Instant now = kNow;
  for (int step = 0; step < 20'000; ++step) {
    now += Duration(static_cast<std::int64_t>(random.below(20'000'000)));
    while (!model.empty() && *model.begin() <= now) {
      latest.remove(*model.begin());
      model.erase(model.begin());
    }
    if (random.below(3) > 0) {
      const bool is_long = has_locks_of_before && random.below(20) == 0;
      const auto most = static_cast<std::uint64_t>(max_ttl.count()) * (is_long ? 50 : 1);
      const Duration ttl(static_cast<std::int64_t>(1 + random.below(most)));
      latest.add(now + ttl, now);
      model.insert(now + ttl);
    } else if (!model.empty()) {
      const auto last = std::prev(model.end());
      latest.remove(*last);
      model.erase(last);
    }
    if (random.below(4) > 0) continue;
    const Instant told = latest.find(now);
    const Instant wanted = model.empty() ? Instant{} : *model.rbegin();
    if (wanted > now) {
      REQUIRE(told >= wanted);
      REQUIRE(told - wanted < kDeadlineTick);
    } else {
      REQUIRE(told == Instant{});
    }
  }
}

TEST_CASE("locks longer than max-ttl, of a run before, are told of like any") {
  LatestDeadline latest(1s);
  latest.add(kNow + 100s, kNow);
  latest.add(kNow + 500ms, kNow);
  CHECK(latest.find(kNow) == kNow + 100s);
  SECTION("when one is gone, the others count, exactly") {
    latest.add(kNow + 70s, kNow);
    latest.remove(kNow + 100s);
    CHECK(latest.has_fallen());
    CHECK(latest.find(kNow) == kNow + 70s);
    latest.remove(kNow + 70s);
    CHECK(latest.has_fallen());
    CHECK(latest.find(kNow) == kNow + 500ms);
    latest.remove(kNow + 500ms);
    CHECK(latest.has_fallen());
    CHECK(latest.find(kNow) == Instant{});
  }
  SECTION("a lock of this run may end in the same tick") {
    const Instant later_on = kNow + 99s + 500ms;
    latest.add(kNow + 100s, later_on);
    latest.remove(kNow + 100s);
    CHECK(latest.find(later_on) == kNow + 100s);
    latest.remove(kNow + 100s);
    CHECK(latest.find(later_on) == Instant{});
  }
}

TEST_CASE("a lock of a lifetime, of a run before, costs nobody a walk through it") {
  LatestDeadline latest(1s);
  latest.add(kNever - 1h, kNow);
  latest.remove(kNever - 1h);
  CHECK(latest.find(kNow) == Instant{});  // it was a minute's walk, in ticks of 10 ms
}

TEST_CASE("a max-ttl of a lifetime has longer ticks, and is never early") {
  LatestDeadline latest(kNever - kNow);
  for (const Instant deadline : {kNow + 60s, kNow + 24h * 365, kNever - 1ns}) {
    latest.add(deadline, kNow);
    CHECK(latest.find(kNow) >= deadline);
  }
}

TEST_CASE("after clear() nothing is live, and what comes then counts as ever") {
  LatestDeadline latest(60s);
  for (Duration left = 10ms; left <= 60s; left += 10ms) latest.add(kNow + left, kNow);
  latest.add(kNow + 100s, kNow);  // beyond the ring
  latest.find(kNow);
  latest.clear();
  CHECK(latest.has_fallen());
  CHECK(latest.find(kNow) == Instant{});
  latest.add(kNow + 30s, kNow);
  CHECK(latest.find(kNow) == kNow + 30s);
  latest.remove(kNow + 30s);
  CHECK(latest.find(kNow) == Instant{});
}

TEST_CASE("deadlines are rounded up to the next 10 ms") {
  CHECK(round_up_to_tick(Instant(30ms)) == Instant(30ms));
  CHECK(round_up_to_tick(Instant(30ms + 1ns)) == Instant(40ms));
  CHECK(round_up_to_tick(Instant{}) == Instant{});
  CHECK(round_up_to_tick(kNever - 1ns) == kNever);
  CHECK(round_up_to_tick(kNever - kDeadlineTick) < kNever);  // a deadline still
}
