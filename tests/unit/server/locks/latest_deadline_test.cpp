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
  latest.add(kNow + 30s + 1ns);
  latest.add(kNow + 5s);
  CHECK(latest.find(kNow) == kNow + 30s + 10ms);
  latest.remove(kNow + 30s + 1ns);
  CHECK(latest.has_fallen());
  CHECK(latest.find(kNow) == kNow + 5s);
  CHECK_FALSE(latest.has_fallen());
}

TEST_CASE("a lock that is not the last, or one of several in its tick, changes nothing") {
  LatestDeadline latest(60s);
  latest.add(kNow + 30s);
  latest.add(kNow + 30s - 1ns);
  latest.add(kNow + 5s);
  latest.remove(kNow + 5s);
  latest.remove(kNow + 30s);
  CHECK_FALSE(latest.has_fallen());
  CHECK(latest.find(kNow) == kNow + 30s);
}

TEST_CASE("a deadline that has passed counts for none") {
  LatestDeadline latest(60s);
  latest.add(kNow + 20ms);
  CHECK(latest.find(kNow + 20ms) == Instant{});
}

TEST_CASE("what is told is never before the last deadline, and at most a tick after it") {
  const Duration max_ttl = GENERATE(Duration(1ms), Duration(50ms), Duration(60s), Duration(1h));
  CAPTURE(max_ttl);
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
      const auto ttl =
          static_cast<std::int64_t>(1 + random.below(static_cast<std::uint64_t>(max_ttl.count())));
      latest.add(now + Duration(ttl));
      model.insert(now + Duration(ttl));
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

TEST_CASE("a lock longer than max-ttl, of a run before, is told of like any") {
  LatestDeadline latest(1s);
  latest.add(kNow + 100s);
  latest.add(kNow + 500ms);
  CHECK(latest.find(kNow) == kNow + 100s);
  latest.remove(kNow + 100s);
  CHECK(latest.find(kNow) >= kNow + 500ms);
}

TEST_CASE("a max-ttl of a lifetime has longer ticks, and is never early") {
  LatestDeadline latest(kNever - kNow);
  for (const Instant deadline : {kNow + 60s, kNow + 24h * 365, kNever - 1ns}) {
    latest.add(deadline);
    CHECK(latest.find(kNow) >= deadline);
  }
}

TEST_CASE("after clear() nothing is live") {
  LatestDeadline latest(60s);
  latest.add(kNow + 30s);
  latest.find(kNow);
  latest.clear();
  CHECK(latest.has_fallen());
  CHECK(latest.find(kNow) == Instant{});
}

TEST_CASE("deadlines are rounded up to the next 10 ms") {
  CHECK(round_up_to_tick(Instant(30ms)) == Instant(30ms));
  CHECK(round_up_to_tick(Instant(30ms + 1ns)) == Instant(40ms));
  CHECK(round_up_to_tick(Instant{}) == Instant{});
  CHECK(round_up_to_tick(kNever - 1ns) == kNever);
}
