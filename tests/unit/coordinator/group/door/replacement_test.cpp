// Another value for a lock that is held (rule D9), at real nodes.
#include "tests/unit/coordinator/group/door/group_of_door.h"
#include "tests/unit/coordinator/group/fake_nodes.h"

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("a replacement gives the lock another value, token and deadline stay") {
  DoorWorld world;
  Client& door = world.linked();
  REQUIRE(is_acquired(world.take(door, named("X0"))));
  world.pass(3s);
  const ExtendResult got = world.replace(door, "X0", "X1", 7s, true);
  CHECK(got.outcome == ExtensionOutcome::extended);
  CHECK(got.token == 1);
  world.pass(10ms);
  for (unsigned number = 1; number <= 5; ++number) {
    CHECK(world.value_at(number) == "X1");
    CHECK(world.lock_at(number)->token() == 1);
    CHECK(world.left_at(number) > 6s);
    CHECK(world.left_at(number) < 7s);
  }
  CHECK(world.replace(door, "X0", "X2", 10s).outcome == ExtensionOutcome::lost);
  CHECK(world.read(door, values()).value == "X1");
  CHECK(world.replace(door, "X1", "X2", 20s).outcome == ExtensionOutcome::extended);
  world.pass(10ms);
  CHECK(world.left_at(3) > 19s);
}

TEST_CASE("a node that lacks a lock gets its new value once a quorum has it, and no other node") {
  DoorWorld world;
  Client& door = world.linked();
  REQUIRE(is_acquired(world.take(world.linked({1, 2, 3, 4}), named("X0"))));
  world.hang(4);
  CHECK(world.replace(door, "X0", "X1", 10s).outcome == ExtensionOutcome::extended);
  world.pass(10ms);
  CHECK(world.value_at(5) == "X1");
  CHECK(world.value_at(4) == "X0");
  world.hang(4, false);
  world.pass(1s);
  CHECK(world.value_at(4) == "X1");  // what it was asked it has done late

  REQUIRE(is_acquired(world.take(world.linked({1, 2}), named("Y0", "lamp"))));
  CHECK(world.replace(door, "Y0", "Y1", 10s, false, "lamp").outcome == ExtensionOutcome::lost);
  world.pass(100ms);
  CHECK(world.node(5).locks().find("lamp", world.now()) == nullptr);
}

TEST_CASE("a reading finishes what a replacement has left half done, and tells that") {
  DoorWorld world;
  Client& door = world.linked();
  REQUIRE(is_acquired(world.take(door, named("X0"))));
  world.pass(10ms);
  world.replace(world.linked({1, 2}), "X0", "X1", 60s);  // a group of its own that cannot see more
  for (const unsigned number : {3u, 4u, 5u}) CHECK(world.value_at(number) == "X0");
  CHECK(world.read(door, values()).value == "X0");  // a quorum has it, and no other had one
  world.node(5).grants().release("printer", world.now());
  const ReadResult read = world.read(door, values());
  CHECK(read.verdict == ReadVerdict::held);
  CHECK(read.value == "X1");
  CHECK(read.left > 50s);  // as whoever replaced it asked for
  for (const unsigned number : {1u, 2u, 3u, 4u}) CHECK(world.value_at(number) == "X1");
  CHECK(world.value_at(5).empty());
}

TEST_CASE("of two replacements that are at no quorum a reading tells that one is possible") {
  DoorWorld world;
  Client& door = world.linked();
  REQUIRE(is_acquired(world.take(world.linked({1, 2, 3, 4}), named("X0"))));
  world.pass(10ms);
  world.replace(world.linked({1, 2}), "X0", "X1a", 10s);
  world.replace(world.linked({3, 4}), "X0", "X1b", 10s);
  world.node(5).grants().release("printer", world.now());
  const ReadResult read = world.read(door, values());
  CHECK(read.verdict == ReadVerdict::possible);
  CHECK(world.value_at(1) == "X1a");
  CHECK(world.value_at(3) == "X1b");
}

TEST_CASE("what is left half done is finished at no node that has changed since it told") {
  DoorWorld world;
  Client& door = world.linked();
  REQUIRE(is_acquired(world.take(door, named("X0"))));
  world.pass(10ms);
  world.replace(world.linked({1, 2}), "X0", "X1", 60s);
  world.node(5).grants().release("printer", world.now());
  world.hang(4);
  std::optional<ReadResult> result;
  door.group().read(values(), world.now(), [&](ReadResult got) { result = std::move(got); });
  world.pass(100ms);  // 4 is waited for: X0 may be at a quorum
  REQUIRE_FALSE(result);
  world.node(3).grants().release("printer", world.now());
  world.pass(1s);
  REQUIRE(result);
  CHECK(result->verdict == ReadVerdict::possible);
  CHECK(world.value_at(3).empty());
}

TEST_CASE("plain Redis servers replace a value by a script, in the same way") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer");
  std::optional<ExtensionOutcome> outcome;
  const auto replace = [&](Duration ttl, bool shortens) {
    world.group().extend({.name = "printer",
                          .value = got->lock.claim->value,
                          .ttl = ttl,
                          .shortens = shortens,
                          .replacement = "v2"},
                         world.now(), [&](const ExtendResult& told) { outcome = told.outcome; });
    world.settle();
  };
  world.log(1);
  replace(10s, false);
  CHECK(world.log(1) ==
        "EVALSHA replace 1 printer v1 v2 10000 0; "
        "EVAL replace 1 printer v1 v2 10000 0");
  CHECK(outcome == ExtensionOutcome::extended);
  replace(5s, true);
  CHECK(world.log(1) == "EVALSHA replace 1 printer v1 v2 5000 1");
  CHECK(outcome == ExtensionOutcome::lost);
}

TEST_CASE("a node that would forget a new value too soon has no vote for it (rule D9)") {
  DoorWorld world;
  Client& door = world.linked();
  REQUIRE(is_acquired(world.take(door, named("X0"))));
  world.pass(8'990ms);  // a second, which are two node timeouts, and 10 ms
  CHECK(world.replace(door, "X0", "X1", 1s, true).outcome == ExtensionOutcome::extended);
  world.pass(20ms);
  const ExtendResult late = world.replace(door, "X1", "X2", 990ms, true);
  CHECK(late.outcome == ExtensionOutcome::no_quorum);
  CHECK(late.answers[0].text == "its lock runs out too soon");
  CHECK(world.replace(door, "X2", "X3", 2s).outcome == ExtensionOutcome::extended);
}
