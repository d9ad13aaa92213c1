#include "coordinator/group/keeper.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// A lock of 30 s, or another TTL, with a notice of a tenth, kept from the first hour on.
struct Kept {
  Duration ttl = 30s;
  Instant start{1h};
  ClockReading clocks{start, start};
  Keeper keeper{{.ttl = ttl, .notice = ttl / 10}, start + ttl - 1s, clocks};

  void pass(Duration d) {
    clocks.boottime += d;
    clocks.monotonic += d;
    keeper.on_time(clocks);
  }
  Instant now() const { return clocks.boottime; }
  void end_extension(ExtensionOutcome outcome, Instant valid_until) {
    keeper.on_extended({outcome, valid_until, std::vector<Answer>(5)}, now());
  }
};

}  // namespace

TEST_CASE("a kept lock is extended at a third of its TTL, and again a third after that") {
  Kept kept;
  CHECK_FALSE(kept.keeper.wants_extension());
  kept.pass(10s - 1ns);
  CHECK_FALSE(kept.keeper.wants_extension());
  kept.pass(1ns);
  REQUIRE(kept.keeper.wants_extension());
  kept.keeper.begin_extension(kept.now());
  CHECK_FALSE(kept.keeper.wants_extension());
  kept.end_extension(ExtensionOutcome::extended, kept.now() + 29s);
  CHECK(kept.keeper.valid_until() == kept.start + 39s);
  kept.pass(10s - 1ns);
  CHECK_FALSE(kept.keeper.wants_extension());
  kept.pass(1ns);
  CHECK(kept.keeper.wants_extension());
  CHECK_FALSE(kept.keeper.loss());
}

TEST_CASE("only one extension is under way at a time") {
  Kept kept;
  kept.pass(10s);
  kept.keeper.begin_extension(kept.now());
  kept.pass(12s);
  CHECK_FALSE(kept.keeper.wants_extension());
}

TEST_CASE("an extension without a quorum is tried again soon, until the notice begins") {
  Kept kept;
  kept.pass(10s);
  int tries = 0;
  while (!kept.keeper.loss()) {
    if (kept.keeper.wants_extension()) {
      ++tries;
      kept.keeper.begin_extension(kept.now());
      kept.end_extension(ExtensionOutcome::no_quorum, kept.start + 29s);
    }
    const auto next = kept.keeper.next_deadline();
    REQUIRE(next.has_value());
    REQUIRE(*next > kept.now());
    kept.pass(*next - kept.now());
  }
  CHECK(kept.now() == kept.start + 26s);
  CHECK(*kept.keeper.loss() == "it could not be extended in time");
  CHECK(kept.keeper.last_failure().size() == 5);
  CHECK(tries == 32);  // every 500 ms
  CHECK_FALSE(kept.keeper.next_deadline());
}

TEST_CASE("an extension that failed is tried again after a twentieth of the TTL, 500 ms at most") {
  const auto [ttl, pause] = GENERATE(table<Duration, Duration>({{4s, 200ms}, {30s, 500ms}}));
  Kept kept{.ttl = ttl};
  kept.pass(ttl / 3);
  kept.keeper.begin_extension(kept.now());
  kept.end_extension(ExtensionOutcome::no_quorum, kept.keeper.valid_until());
  CHECK(kept.keeper.next_deadline() == kept.now() + pause);
}

TEST_CASE("an extension that succeeds leaves no failure to tell of") {
  Kept kept;
  kept.pass(10s);
  kept.end_extension(ExtensionOutcome::no_quorum, kept.start + 29s);
  CHECK(kept.keeper.last_failure().size() == 5);
  kept.end_extension(ExtensionOutcome::extended, kept.now() + 29s);
  CHECK(kept.keeper.last_failure().empty());
}

TEST_CASE("a lock that was lost is extended no more, also where that was due") {
  Kept kept;
  kept.pass(10s);
  REQUIRE(kept.keeper.wants_extension());
  kept.end_extension(ExtensionOutcome::lost, kept.start + 29s);  // of a caller's own
  CHECK_FALSE(kept.keeper.wants_extension());
  kept.pass(10s);
  CHECK_FALSE(kept.keeper.wants_extension());
}

TEST_CASE("a lock that a quorum does not have any more is lost at once and for good") {
  Kept kept;
  kept.pass(10s);
  kept.keeper.begin_extension(kept.now());
  kept.end_extension(ExtensionOutcome::lost, kept.start + 29s);
  REQUIRE(kept.keeper.loss());
  CHECK(kept.keeper.loss()->find("a quorum") == 0);
  kept.end_extension(ExtensionOutcome::extended, kept.now() + 29s);
  CHECK(kept.keeper.loss());
  CHECK(kept.keeper.valid_until() == kept.start + 29s);
}

TEST_CASE("a machine that slept loses what it held (rule C3)") {
  Kept kept;
  kept.clocks.boottime += 1s;
  kept.keeper.on_time(kept.clocks);
  REQUIRE(kept.keeper.loss());
  CHECK(kept.keeper.loss()->find("this machine slept") == 0);
}

TEST_CASE("the clocks are looked at every second, whatever else is due") {
  Kept kept;
  CHECK(kept.keeper.next_deadline() == kept.start + Keeper::kClockInterval);
  kept.keeper.begin_extension(kept.now());
  kept.clocks.boottime += 300ms;
  kept.clocks.monotonic += 300ms;
  kept.end_extension(ExtensionOutcome::extended, kept.now() + 29s);
  CHECK(kept.keeper.next_deadline() == kept.now() + Keeper::kClockInterval);
}

TEST_CASE("an extension that comes after the lock counts as lost does not bring it back") {
  Kept kept;
  kept.pass(10s);
  kept.keeper.begin_extension(kept.now());
  kept.clocks.boottime = kept.start + 26s;  // nobody has looked at the time
  kept.end_extension(ExtensionOutcome::extended, kept.now() + 29s);
  REQUIRE(kept.keeper.loss());
  CHECK(kept.keeper.valid_until() == kept.start + 29s);
}

TEST_CASE("a loss that somebody has seen stays one") {
  Kept kept;
  kept.keeper.on_loss_seen();
  REQUIRE(kept.keeper.loss());
  kept.end_extension(ExtensionOutcome::extended, kept.now() + 29s);
  CHECK(kept.keeper.loss());
  CHECK_FALSE(kept.keeper.next_deadline());
}
