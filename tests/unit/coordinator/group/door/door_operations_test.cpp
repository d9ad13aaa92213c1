// What a front door asks of a group, at real nodes: readings, attempts with values of its own,
// deadlines of whoever holds exactly these bytes, waits.
#include "tests/unit/coordinator/group/door/group_of_door.h"
#include "tests/unit/coordinator/group/fake_nodes.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

// --- readings (rule D3)

TEST_CASE("a reading tells value, time left and token of a lock that a quorum holds") {
  DoorWorld world;
  Client& door = world.linked();
  CHECK(world.read(door).verdict == ReadVerdict::free);
  const std::string value = world.hold({1, 2, 3, 4, 5});
  const ReadResult read = world.read(door, {.name = "printer", .wants_token = true});
  CHECK(read.verdict == ReadVerdict::held);
  CHECK(read.value == value);
  CHECK(read.token == 1);
  CHECK(read.left > 9s);
  CHECK(read.left <= 10s);
  CHECK(read.began < world.now());
  CHECK(read.readings[0]->value == value);
}

TEST_CASE("a hung node delays a reading only if its answer would decide") {
  DoorWorld world;
  Client& door = world.linked();
  world.hold({1, 2, 3});
  world.hang(5);
  Instant began = world.now();
  CHECK(world.read(door).verdict == ReadVerdict::held);
  CHECK(world.now() - began < 10ms);

  world.hang(3);
  began = world.now();
  const ReadResult possible = world.read(door);  // 3 and 5 might hold it, too
  CHECK(possible.verdict == ReadVerdict::possible);
  CHECK(world.now() - began == 500ms);
  CHECK(possible.answers[2].kind == AnswerKind::timed_out);
  CHECK(possible.answers[3].kind == AnswerKind::yes);
  CHECK_FALSE(possible.readings[3].has_value());

  world.hang(2);
  CHECK(world.read(door).verdict == ReadVerdict::no_quorum);
}

TEST_CASE("a recovering node is silent, not a node that holds nothing") {
  DoorWorld world;
  Client& door = world.linked();
  world.hold({1, 2, 3});
  world.lose_ledger(3, 30s);  // it has forgotten the lock
  world.pass(1s);
  const ReadResult read = world.read(door);
  CHECK(read.verdict == ReadVerdict::possible);
  CHECK(read.answers[2].kind == AnswerKind::recovering);
}

TEST_CASE("values are one holder's if the caller says so") {
  DoorWorld world;
  Client& door = world.linked();
  world.take(world.linked({1, 2}), {.name = "printer", .make_value = [] { return "X1"; }});
  world.take(world.linked({3, 4, 5}), {.name = "printer", .make_value = [] { return "X2"; }});
  CHECK(world.read(door).value == "X2");
  world.node(5).grants().release("printer", world.now());
  world.pass(1s);
  CHECK(world.read(door).verdict == ReadVerdict::free);  // of two holders neither has a quorum
  const ReadResult read = world.read(door, {.name = "printer", .held_by = letter_and_number});
  CHECK(read.verdict == ReadVerdict::held);
  CHECK(read.value == "X2");
}

TEST_CASE("a reading asks plain Redis servers by a script") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer");
  std::optional<ReadResult> read;
  world.group().read({.name = "printer"}, world.now(),
                     [&](ReadResult told) { read = std::move(told); });
  world.settle();
  REQUIRE(read);
  CHECK(read->verdict == ReadVerdict::held);
  CHECK(read->value == got->lock.claim->value);
  CHECK(read->left == 30s);
  CHECK(read->token == 0);
}

TEST_CASE("a reading is of one epoch, and outlives a change of the group's roster (rule G1)") {
  int left_anew = 0;
  for (int instant = 0; instant < 40; ++instant) {
    DoorWorld world(6);
    Client& founder = world.make_group();
    Client& door = world.linked({1, 2, 3, 4, 5});
    std::string value;
    {
      const AcquireResult got = world.take(founder, printer(30s));
      REQUIRE(is_acquired(got));
      value = got.lock.claim->value;
    }
    std::optional<ChangeResult> change;
    founder.group().change(RosterWorld::roster(2, {2, 3, 4, 5, 6}, {{6, 2}}), world.now(),
                           [&](ChangeResult got) { change = std::move(got); });
    world.pass(instant * 500us);
    const Instant began = world.now();
    const ReadResult read = world.read(door);
    CHECK(read.verdict == ReadVerdict::held);
    CHECK(read.value == value);
    if (world.now() - began > 10ms) ++left_anew;
  }
  CHECK(left_anew > 0);
}

TEST_CASE("a node takes no part in the reading of another epoch") {
  DoorWorld world(6);
  Client& founder = world.make_group();
  auto& session = world.node(6).open_session({}, {world.now(), {}});
  CHECK(is_acquired(world.take(founder, printer())));
  const auto ask = [&](std::string_view words) {
    world.node(6).receive(session, words, {world.now(), {}});
    std::string reply(session.output().view());
    session.output().clear();
    return reply;
  };
  CHECK(ask("LOCK.HOLDER printer\r\n") == "$-1\r\n");
  CHECK(ask("LOCK.HOLDER printer VOTE\r\n") == "$-1\r\n");
  CHECK(ask("LOCK.HOLDER printer TWICE\r\n").starts_with("-ERR syntax"));
  ask("LOCK.GROUP HELLO 7\r\n");
  CHECK(ask("LOCK.HOLDER printer\r\n") == "$-1\r\n");
  CHECK(ask("LOCK.HOLDER printer VOTE\r\n").starts_with("-GROUP"));
}

// --- attempts with values of the caller's

TEST_CASE("each attempt takes a value that its caller makes") {
  DoorWorld world;
  Client& door = world.linked();
  world.hold({3, 4, 5});
  int made = 0;
  AcquireRequest request = printer();
  request.patience = {.wait = 1s, .splits_only = true};
  request.make_value = [&made] { return fmt::format("door-{}", ++made); };
  CHECK(world.take(door, request).outcome == AcquisitionOutcome::held);
  CHECK(made > 1);
  world.pass(10s);
  const AcquireResult got = world.take(door, request);
  CHECK(is_acquired(got));
  CHECK(got.lock.claim->value == fmt::format("door-{}", made));
  CHECK(world.value_at(1) == got.lock.claim->value);
  CHECK(world.value_at(5) == got.lock.claim->value);
}

TEST_CASE("patience for split votes only: a lock that another holds is told at once") {
  DoorWorld world;
  Client& door = world.linked();
  int attempts = 0;
  AcquireRequest request = printer();
  request.patience = {.wait = 1s, .splits_only = true};
  request.make_value = [&attempts] { return fmt::format("door-{}", ++attempts); };
  {
    const AcquireResult other = world.take(world.linked(), printer(2s));
    REQUIRE(is_acquired(other));
    const Instant began = world.now();
    CHECK(world.take(door, request).outcome == AcquisitionOutcome::held);
    CHECK(attempts == 1);
    CHECK(world.now() - began < 10ms);
  }
  world.pass(2s);
  world.hold({3, 4, 5});  // two of five vote for the door
  const Instant began = world.now();
  CHECK(world.take(door, request).outcome == AcquisitionOutcome::held);
  CHECK(attempts > 2);
  CHECK(world.now() - began >= 1s);
  CHECK(world.now() - began < 1100ms);
  world.pass(100ms);
  CHECK(world.value_at(1).empty());
}

TEST_CASE("a vote that is split is soon tried for again: the others' attempts end as soon") {
  DoorWorld world;
  Client& door = world.linked();
  world.hold({3, 4, 5});
  const Instant began = world.now();
  AcquireRequest request = printer();
  request.patience = {.wait = 1s, .splits_only = true};
  std::optional<AcquireResult> got;
  door.group().acquire(request, world.now(), [&](AcquireResult told) { got = std::move(told); });
  world.pass(3ms);
  for (const unsigned number : {3u, 4u, 5u}) {
    world.node(number).grants().release("printer", world.now());
  }
  REQUIRE(world.run_until([&] { return got.has_value(); }));
  CHECK(is_acquired(*got));
  CHECK(world.now() - began < 20ms);
}

TEST_CASE("an attempt that is decided too late for its caller is undone everywhere (rule D2)") {
  DoorWorld world;
  Client& door = world.linked();
  AcquireRequest request = printer();
  request.acquire_within = 2ms;  // just the round trip of an attempt without a token
  request.fence = false;
  const Instant began = world.now();
  const AcquireResult in_time = world.take(door, request);
  CHECK(is_acquired(in_time));
  CHECK(in_time.began == began);
  world.release(door, in_time.lock);

  request.acquire_within = 2ms - 1ns;
  const AcquireResult late = world.take(door, request);
  CHECK(late.outcome != AcquisitionOutcome::acquired);
  world.pass(100ms);
  for (unsigned number = 1; number <= 5; ++number) CHECK(world.value_at(number).empty());
}

TEST_CASE("a lock that a quorum granted after the time given is too late") {
  FakeNodes world;
  world.start();
  for (const unsigned number : {3u, 4u, 5u}) world.node(number).hung = true;
  std::optional<AcquireResult> got;
  world.group().acquire({.name = "printer", .fence = false, .acquire_within = 300ms}, world.now(),
                        [&](AcquireResult told) { got = std::move(told); });
  world.advance(299ms);
  CHECK_FALSE(got.has_value());
  world.advance(2ms);
  REQUIRE(got.has_value());  // no node gets more time than the attempt
  CHECK(got->outcome == AcquisitionOutcome::no_quorum);
}

// --- deadlines (rule D8)

TEST_CASE("an extension by exact bytes counts nodes that still held them, and no other") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2, 3});
  const ExtendResult extended = world.extend(door, value, 20s);
  CHECK(extended.outcome == ExtensionOutcome::extended);
  CHECK(extended.token == 1);
  CHECK(world.left_at(1) > 19s);

  CHECK(world.extend(door, value + "?", 20s).outcome == ExtensionOutcome::lost);
  world.pass(10ms);
  const std::string other = world.value_at(4);
  CHECK(other == value);  // it was topped up
}

TEST_CASE("nodes that lack an extended lock are topped up, with its token, once it is extended") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2, 3});
  world.hang(4);
  const ExtendResult extended = world.extend(door, value, 20s);
  CHECK(extended.outcome == ExtensionOutcome::extended);
  world.pass(10ms);
  CHECK(world.value_at(5) == value);
  CHECK(world.lock_at(5)->token() == 1);
  CHECK(world.left_at(5) <= world.left_at(1) + 1ms);  // it ends with the deadline that was voted
  CHECK(world.left_at(5) > 19s);

  world.pass(400ms);
  world.hang(4, false);  // it says only now that it lacks the lock
  world.pass(10ms);
  CHECK(world.value_at(4) == value);
  CHECK(world.left_at(4) <= world.left_at(1) + 1ms);
}

TEST_CASE("who says too late that it lacks a lock is not topped up by that extension (rule D9)") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2, 3});
  world.hang(4);
  CHECK(world.extend(door, value, 20s).outcome == ExtensionOutcome::extended);
  world.pass(500ms);
  world.hang(4, false);
  world.pass(100ms);
  CHECK(world.value_at(4).empty());
  world.extend(door, value, 20s);  // but by the next
  world.pass(10ms);
  CHECK(world.value_at(4) == value);
}

TEST_CASE("a node that has another value is not topped up, also when that has run out (rule D9)") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2, 3});
  world.take(world.linked({4}), {.name = "printer", .ttl = 200ms});
  const std::string other = world.value_at(4);
  CHECK(other != value);
  CHECK(world.extend(door, value, 20s).outcome == ExtensionOutcome::extended);
  world.pass(300ms);
  CHECK(world.value_at(4).empty());
  CHECK(world.value_at(5) == value);
}

TEST_CASE("a top-up goes over the connection that said that the lock is missing, or not at all") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2, 3});
  world.hang(5);
  CHECK(world.extend(door, value, 20s).outcome == ExtensionOutcome::extended);
  world.refuse(5);  // its connection ends before it has answered
  world.refuse(5, false);
  world.hang(5, false);
  world.pass(3s);
  CHECK(world.value_at(4) == value);
  CHECK(world.value_at(5).empty());
}

TEST_CASE("an extension that fails tops nothing up") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2});
  CHECK(world.extend(door, value, 20s).outcome == ExtensionOutcome::lost);
  world.pass(100ms);
  for (const unsigned number : {3u, 4u, 5u}) CHECK(world.value_at(number).empty());
  world.hang(3);
  CHECK(world.extend(door, value, 20s).outcome == ExtensionOutcome::no_quorum);
  world.hang(3, false);
  world.pass(1s);
  for (const unsigned number : {3u, 4u, 5u}) CHECK(world.value_at(number).empty());
}

TEST_CASE("what was released for good is not topped up (rule Q3)") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2, 3});
  world.hang(4);
  CHECK(world.extend(door, value, 20s).outcome == ExtensionOutcome::extended);
  world.release(door, known_lock("printer", value, 20s));
  world.hang(4, false);
  world.pass(1s);
  for (unsigned number = 1; number <= 5; ++number) CHECK(world.value_at(number).empty());
}

TEST_CASE("an extension never brings a deadline forward, a shortening does") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2, 3, 4});
  CHECK(world.extend(door, value, 1s).outcome == ExtensionOutcome::extended);
  world.pass(10ms);
  CHECK(world.left_at(1) > 9s);
  world.node(5).grants().release("printer", world.now());

  const ExtendResult shortened = world.extend(door, value, 2s, true);
  CHECK(shortened.outcome == ExtensionOutcome::extended);
  world.pass(10ms);
  for (const unsigned number : {1u, 2u, 3u, 4u}) {
    CHECK(world.left_at(number) < 2s);
    CHECK(world.value_at(number) == value);
    CHECK(world.lock_at(number)->token() == 1);  // the same holder
  }
  CHECK(world.value_at(5).empty());  // nothing is topped up
  CHECK(world.extend(door, value + "?", 1s, true).outcome == ExtensionOutcome::lost);
}

TEST_CASE("a recovering node has no vote in a shortening (rule R10)") {
  DoorWorld world;
  Client& door = world.linked();
  const std::string value = world.hold({1, 2});
  for (const unsigned number : {3u, 4u, 5u}) world.lose_ledger(number, 30s);
  world.pass(1s);
  const ExtendResult result = world.extend(door, value, 2s, true);
  CHECK(result.outcome == ExtensionOutcome::no_quorum);  // not: lost
  CHECK(result.answers[2].kind == AnswerKind::recovering);
}

TEST_CASE("plain Redis servers are extended and shortened by scripts") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer");
  std::vector<ExtensionOutcome> outcomes;
  const auto set_deadline = [&](Duration ttl, bool shortens) {
    world.group().extend(
        {.name = "printer", .value = got->lock.claim->value, .ttl = ttl, .shortens = shortens},
        world.now(), [&](const ExtendResult& told) { outcomes.push_back(told.outcome); });
    world.settle();
  };
  world.log(1);
  set_deadline(10s, true);
  CHECK(world.log(1) == "EVALSHA shorten 1 printer v1 10000; EVAL shorten 1 printer v1 10000");
  world.advance(10s);
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
  set_deadline(10s, false);
  CHECK(outcomes == std::vector{ExtensionOutcome::extended, ExtensionOutcome::lost});
}

// --- waits (rule Q7)

TEST_CASE("a wait ends when a quorum says that the lock is free") {
  DoorWorld world;
  Client& door = world.linked();
  const AcquireResult held = world.take(world.linked(), printer(60s));
  std::optional<WaitResult> result;
  door.group().wait_for_free({.name = "printer", .wait = 30s}, world.now(),
                             [&](WaitResult got) { result = got; });
  world.pass(5s);
  REQUIRE_FALSE(result.has_value());
  const Instant released_at = world.now();
  world.node(1).grants().release("printer", world.now());
  world.node(2).grants().release("printer", world.now());
  world.pass(1s);
  CHECK_FALSE(result.has_value());
  world.node(3).grants().release("printer", world.now());
  world.node(3).do_due_work({world.now(), {}});
  REQUIRE(world.run_until([&] { return result.has_value(); }));
  CHECK(result->outcome == WaitOutcome::free);
  CHECK(world.now() - released_at < 1s + 2 * kWakeWindow + 10ms);
  CHECK(world.calls("lock.acquire") == 5);  // it made no attempt of its own
  world.pass(1s);
  const auto waits = [&](unsigned number) { return world.node(number).waiters().count(); };
  CHECK(waits(3) == 0);
  CHECK(waits(4) == 1);  // it has its place there, while whoever waits tries
  SECTION("and whoever has tried leaves its place") {
    door.group().leave_place("printer", result->place, world.now());
    world.pass(10ms);
    CHECK(waits(4) == 0);
  }
  SECTION("and goes on where another got the lock") {
    world.hold({1, 2, 3});
    const WaitPlace place = std::exchange(result, {})->place;
    door.group().wait_for_free({.name = "printer", .wait = 30s, .place = place}, world.now(),
                               [&](WaitResult got) { result = got; });
    world.pass(1s);
    CHECK_FALSE(result.has_value());
    for (unsigned number = 1; number <= 5; ++number) CHECK(waits(number) == 1);
    world.pass(30s);
    CHECK(result->outcome == WaitOutcome::free);  // those locks have run out
  }
}

TEST_CASE("a wait for a lock that is free ends at once, and one that nobody ends when it is over") {
  DoorWorld world;
  Client& door = world.linked();
  const Instant began = world.now();
  CHECK(world.wait(door, 10s) == WaitOutcome::free);
  CHECK(world.now() - began < 20ms);
  world.hold({1, 2, 3, 4, 5});
  CHECK(world.wait(door, 2s) == WaitOutcome::over);
  CHECK(world.wait(door, 0s) == WaitOutcome::over);
}

TEST_CASE("who could not get a lock that nobody holds is told to look after a moment") {
  DoorWorld world;
  std::optional<WaitOutcome> outcome;
  world.linked().group().wait_for_free({.name = "printer", .wait = 10s, .has_failed = true},
                                       world.now(), [&](WaitResult got) { outcome = got.outcome; });
  world.pass(kRetryDelayMin - 1ms);
  CHECK_FALSE(outcome.has_value());
  world.pass(kRetryWindow);
  CHECK(outcome == WaitOutcome::look);
}

TEST_CASE("who waits at plain Redis servers is told when to look") {
  FakeNodes world;
  world.start();
  world.acquire("printer");
  std::optional<WaitOutcome> outcome;
  world.group().wait_for_free({.name = "printer", .wait = 10s}, world.now(),
                              [&](WaitResult got) { outcome = got.outcome; });
  world.advance(kRetryWindow);
  CHECK(outcome == WaitOutcome::look);
}

TEST_CASE("a wait that is cancelled is forgotten at the nodes") {
  DoorWorld world;
  Client& door = world.linked();
  world.hold({1, 2, 3, 4, 5});
  bool is_told = false;
  const OperationId id = door.group().wait_for_free({.name = "printer", .wait = 30s}, world.now(),
                                                    [&](const WaitResult&) { is_told = true; });
  world.pass(100ms);
  CHECK(world.node(1).waiters().count() == 1);
  door.group().cancel(id, world.now());
  world.pass(100ms);
  CHECK(world.node(1).waiters().count() == 0);
  world.pass(60s);
  CHECK_FALSE(is_told);
}
