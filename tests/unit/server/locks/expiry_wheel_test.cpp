#include "server/locks/expiry_wheel.h"

#include "base/random.h"

#include <map>
#include <set>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr Duration kTick(1 << 18);

struct Wheel {
  LockArena arena;
  ExpiryWheel wheel{arena};
  Instant now{1h};

  LockRef add(Instant deadline) {
    const LockRef ref = arena.allocate(32);
    arena.at(ref).set_deadline(deadline);
    wheel.link(ref, now);
    return ref;
  }
  // All that come out at `when`, with as much work as it takes.
  std::multiset<LockRef> pop_all(Instant when) {
    now = when;
    std::multiset<LockRef> popped;
    std::size_t budget = 1'000'000;
    while (const LockRef ref = wheel.pop_due(when, budget)) popped.insert(ref);
    return popped;
  }
};

}  // namespace

TEST_CASE("a lock leaves the wheel within a tick after its deadline, and never before") {
  for (const Duration ttl : {1ns, 100'000ns, Duration(1ms), Duration(17ms), Duration(1s),
                             Duration(70s), Duration(2h), Duration(24h * 400)}) {
    Wheel wheel;
    const Instant deadline = wheel.now + ttl;
    const LockRef ref = wheel.add(deadline);
    CHECK(wheel.pop_all(deadline - 1ns).empty());
    CHECK(wheel.pop_all(deadline + kTick) == std::multiset<LockRef>{ref});
    CHECK_FALSE(wheel.wheel.next_work().has_value());
  }
}

TEST_CASE("the wheel agrees with a multimap under random links, unlinks and leaps of time") {
  const std::uint64_t seed = 3;
  INFO("seed " << seed);
  Random random(seed);
  Wheel wheel;
  std::multimap<Instant, LockRef> model;
  for (int step = 0; step < 50'000; ++step) {
    const auto kind = random.below(10);
    if (kind < 6) {
      const Duration ttl(static_cast<std::int64_t>(random() >> (10 + random.below(50))));
      const Instant deadline =
          later(wheel.now, ttl) == kNever ? kNever - 1ns : later(wheel.now, ttl);
      model.emplace(deadline, wheel.add(deadline));
    } else if (kind < 8 && !model.empty()) {
      auto it = model.lower_bound(wheel.now + Duration(random.below(1'000'000'000)));
      if (it == model.end()) it = model.begin();
      wheel.wheel.unlink(it->second);
      wheel.arena.free(it->second, 32);
      model.erase(it);
    } else {
      // The wheel says when it has work, and is right: nothing is due a tick before.
      const auto next = wheel.wheel.next_work();
      REQUIRE(next.has_value() == !model.empty());
      if (next) REQUIRE(*next <= model.begin()->first + kTick);
      const auto popped = wheel.pop_all(wheel.now + Duration(random() >> (20 + random.below(40))));
      for (const LockRef ref : popped) {
        const Instant deadline = wheel.arena.at(ref).deadline();
        REQUIRE(deadline <= wheel.now);
        auto it = model.lower_bound(deadline);
        while (it->second != ref) ++it;
        model.erase(it);
        wheel.arena.free(ref, 32);
      }
      if (!model.empty()) REQUIRE(model.begin()->first > wheel.now - kTick);
    }
  }
}

TEST_CASE("a small budget hands out the same locks in more calls, also amid a cascade") {
  Wheel wheel;
  const Instant deadline = wheel.now + 30s;
  for (int i = 0; i < 1000; ++i) wheel.add(deadline + Duration(i * 1'000'000));
  wheel.now = deadline + 5s;
  std::size_t popped = 0;
  int calls = 0;
  for (; popped < 1000; ++calls) {
    REQUIRE(calls < 10'000);
    REQUIRE(wheel.wheel.next_work().has_value());
    CHECK(*wheel.wheel.next_work() <= wheel.now);
    std::size_t budget = 7;
    while (const LockRef ref = wheel.wheel.pop_due(wheel.now, budget)) {
      CHECK(wheel.arena.at(ref).deadline() <= wheel.now);
      ++popped;
    }
  }
  CHECK(calls >= 1000 / 7);
}

TEST_CASE("a lock added in the middle of a cascade is not passed over") {
  Wheel wheel;
  const Instant deadline = wheel.now + 30s;
  for (int i = 0; i < 100; ++i) wheel.add(deadline);
  std::size_t budget = 3;
  wheel.now = deadline - 500ms;  // the bucket has begun, the locks are not due
  CHECK(wheel.wheel.pop_due(wheel.now, budget) == 0);
  const LockRef early = wheel.add(wheel.now + 1ms);
  CHECK(wheel.pop_all(wheel.now + 2ms) == std::multiset<LockRef>{early});
}

TEST_CASE("a bucket that time has left behind is handed out as it stands, also when all leave it") {
  Wheel wheel;
  const Instant deadline = wheel.now + 30s;
  std::vector<LockRef> refs;
  for (int i = 0; i < 10; ++i) refs.push_back(wheel.add(deadline));
  std::size_t budget = 3;
  REQUIRE(wheel.wheel.pop_due(deadline - 500ms, budget) == 0);  // amid its way down
  budget = 1;
  wheel.now = deadline + 5s;
  const LockRef first = wheel.wheel.pop_due(wheel.now, budget);
  REQUIRE(first != 0);
  CHECK(budget == 0);
  for (const LockRef ref : refs) {
    if (ref != first) wheel.wheel.unlink(ref);
  }
  budget = 7;
  CHECK(wheel.wheel.pop_due(wheel.now, budget) == 0);
  CHECK(wheel.wheel.next_work() == std::nullopt);
}

TEST_CASE("a bucket of many locks hands out each that is left, whichever were unlinked") {
  const std::uint64_t seed = 4;
  INFO("seed " << seed);
  Random random(seed);
  Wheel wheel;
  const Instant deadline = wheel.now + 30s;
  std::multiset<LockRef> left;
  std::vector<LockRef> gone;
  for (int i = 0; i < 3000; ++i) {
    const LockRef ref = wheel.add(deadline);
    if (random.below(3) == 0) {
      left.insert(ref);
    } else {
      gone.push_back(ref);
    }
  }
  for (const LockRef ref : gone) wheel.wheel.unlink(ref);
  CHECK(wheel.pop_all(deadline - 1ns).empty());
  CHECK(wheel.pop_all(deadline + kTick) == left);
  CHECK(wheel.wheel.next_work() == std::nullopt);
}
