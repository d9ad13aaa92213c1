#include "coordinator/group/retry.h"

#include "tests/unit/coordinator/quorum/machine_fixture.h"

#include <set>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("who does not wait tries once") {
  Random random(1);
  Retry retry({.wait = Duration(0)}, at(0ms));
  CHECK_FALSE(retry.after(AcquisitionOutcome::held, false, at(1ms), random).has_value());
}

TEST_CASE("the last attempt is made when the wait is over, and then no more") {
  Random random(1);
  Retry retry({.wait = 1s}, at(0ms));
  const auto last = retry.after(AcquisitionOutcome::held, false, at(999ms), random);
  REQUIRE(last.has_value());
  CHECK(*last == at(1s));
  CHECK_FALSE(retry.after(AcquisitionOutcome::held, false, at(1001ms), random).has_value());
}

TEST_CASE("the delay is random, so that coordinators that collided part") {
  Random random(1);
  Retry retry({.wait = std::nullopt}, at(0ms));
  std::set<Instant> delays;
  for (int i = 0; i < 100; ++i) {
    const Instant next = *retry.after(AcquisitionOutcome::held, false, at(0ms), random);
    CHECK(next >= at(kRetryDelayMin));
    CHECK(next <= at(kRetryWindow));
    delays.insert(next);
  }
  CHECK(delays.size() > 90);
}

TEST_CASE("the window grows with each split vote in a row, up to a limit, and falls back") {
  Random random(1);
  Retry retry({.wait = std::nullopt}, at(0ms));
  const auto longest_after_splits = [&](int splits) {
    Duration longest = 0ns;
    for (int i = 0; i < 200; ++i) {
      retry.after(AcquisitionOutcome::held, false, at(0ms), random);
      for (int split = 1; split < splits; ++split) {
        retry.after(AcquisitionOutcome::held, true, at(0ms), random);
      }
      longest = std::max(longest,
                         *retry.after(AcquisitionOutcome::held, true, at(0ms), random) - at(0ms));
    }
    return longest;
  };
  CHECK(longest_after_splits(1) > kRetryWindow);
  CHECK(longest_after_splits(1) <= kRetryWindow * 2);
  CHECK(longest_after_splits(3) > kRetryWindow * 4);
  CHECK(longest_after_splits(50) <= kRetryWindow * (1 << kRetryDoublingsMax));
}

TEST_CASE("a wait for ever outlasts any holder, but gives up after 10 s without a quorum") {
  Random random(1);
  Retry retry({.wait = std::nullopt}, at(0ms));
  CHECK(retry.after(AcquisitionOutcome::held, false, at(1h), random).has_value());
  CHECK(retry.after(AcquisitionOutcome::no_quorum, false, at(1h + 9999ms), random).has_value());
  CHECK_FALSE(retry.after(AcquisitionOutcome::no_quorum, false, at(1h + 10s), random).has_value());
}

TEST_CASE("a lock that was called free is tried for at once, by each at a moment of its own") {
  Random random(1);
  Retry retry({.wait = std::nullopt}, at(0ms));
  retry.after(AcquisitionOutcome::held, false, at(0ms), random);
  std::set<Instant> moments;
  for (int i = 0; i < 100; ++i) {
    const Instant next = retry.after_wake(at(0ms), 20ms, random);
    CHECK(next >= at(0ms));
    CHECK(next < at(kWakeWindow));
    moments.insert(next);
  }
  CHECK(moments.size() > 90);
}

TEST_CASE("after split votes the window of a wake fits what an attempt takes, and doubles") {
  Random random(1);
  Retry retry({.wait = std::nullopt}, at(0ms));
  Duration limit = (kWakeWindow + 20ms);
  for (int splits = 1; splits <= 3; ++splits) {
    retry.after(AcquisitionOutcome::held, true, at(0ms), random);
    limit *= 2;
    Duration longest = 0ns;
    for (int i = 0; i < 200; ++i) {
      longest = std::max(longest, retry.after_wake(at(0ms), 20ms, random) - at(0ms));
    }
    CHECK(longest < limit);
    CHECK(longest > limit / 2);
  }
}

TEST_CASE("a wake near the end of the wait does not outlast it") {
  Random random(1);
  Retry retry({.wait = 1s}, at(0ms));
  retry.after(AcquisitionOutcome::held, true, at(1ms), random);
  for (int i = 0; i < 100; ++i) CHECK(retry.after_wake(at(999ms), 1s, random) <= at(1s));
  CHECK(retry.last_attempt() == at(1s));
}

TEST_CASE("who relied on the nodes' word begins to count without a quorum when that is gone") {
  Random random(1);
  Retry retry({.wait = std::nullopt}, at(0ms));
  retry.after(AcquisitionOutcome::held, false, at(0ms), random);
  CHECK(retry.poll(at(1h), random) > at(1h));
  CHECK(retry.after(AcquisitionOutcome::no_quorum, false, at(1h + 9s), random).has_value());
  CHECK_FALSE(retry.after(AcquisitionOutcome::no_quorum, false, at(1h + 10s), random).has_value());
}

TEST_CASE("nodes that called the lock free were a quorum: the 10 s without one begin then") {
  Random random(1);
  Retry retry({.wait = std::nullopt}, at(0ms));
  retry.after(AcquisitionOutcome::held, false, at(0ms), random);
  retry.after_wake(at(1h), 1ms, random);
  CHECK(retry.after(AcquisitionOutcome::no_quorum, false, at(1h + 9s), random).has_value());
  CHECK_FALSE(retry.after(AcquisitionOutcome::no_quorum, false, at(1h + 10s), random).has_value());
}

TEST_CASE("who is called alone tries at once, and waits a little where votes are split again") {
  Random random(1);
  Retry retry({.wait = 60s}, at(0ms));
  const auto lose = [&] { retry.after(AcquisitionOutcome::held, true, at(0ms), random); };
  CHECK(retry.after_wake(at(1ms), 200ms, random, true) == at(1ms));
  lose();
  CHECK(retry.after_wake(at(1ms), 200ms, random, true) == at(1ms));
  Duration longest{};
  for (int i = 0; i < 100; ++i) {
    lose();
    longest = std::max(longest, retry.after_wake(at(0ms), 200ms, random, true) - at(0ms));
  }
  CHECK(longest > 1ms);
  CHECK(longest <= 16ms);
}
