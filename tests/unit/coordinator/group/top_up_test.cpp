// Extensions that give a lock back to nodes that lost it (rule Q4), over a group of five nodes.
#include "tests/unit/coordinator/group/fake_nodes.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// A lock whose nodes 1 and 2 were restarted: they answer, and have lost it.
HeldLock lock_with_two_nodes_lost(FakeNodes& world) {
  const auto got = world.acquire("printer", 5s);
  world.settle();
  world.restart(1);
  world.restart(2);
  for (unsigned i = 1; i <= 5; ++i) world.log(i);
  return got->lock;
}

}  // namespace

TEST_CASE("an extension tops up the nodes that lost the lock, with its token (rules Q4, F5)") {
  FakeNodes world;
  world.fenced(41).start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  world.node(2).counter = 7;
  CHECK(world.extend(lock).outcome == ExtensionOutcome::extended);
  world.settle();
  CHECK(world.log(1) == "LOCK.EXTEND printer v1 PX 5000 TOKEN 42");
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.node(i).token("printer") == 42);
  CHECK(world.node(2).counter == 42);
}

TEST_CASE("a lock outlives the restart of every node, one after the other (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  for (unsigned i = 1; i <= 5; ++i) {
    world.restart(i);
    world.advance(1s);
    const ExtendResult extended = world.extend(lock);
    CHECK(extended.outcome == ExtensionOutcome::extended);
    lock.valid_until = extended.valid_until;
    world.settle();
  }
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.node(i).holds("printer", world.now()));
}

TEST_CASE("three nodes that lost it at once are topped up within the validity (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  world.restart(3);
  CHECK(world.extend(lock).outcome == ExtensionOutcome::extended);
  world.settle();
  CHECK(world.node(3).holds("printer", world.now()));
}

TEST_CASE("a lock without a token is topped up with token 0 (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  std::optional<HeldLock> lock;
  world.group().acquire({.name = "printer", .ttl = 5s, .fence = false}, world.now(),
                        [&](AcquireResult got) { lock = std::move(got.lock); });
  world.settle();
  REQUIRE(lock.has_value());
  CHECK(lock->token == 0);
  world.restart(1);
  world.log(1);
  world.extend(*lock);
  world.settle();
  CHECK(world.log(1) == "LOCK.EXTEND printer v1 PX 5000 TOKEN 0");
  CHECK(world.node(1).holds("printer", world.now()));
}

TEST_CASE("a plain Redis is topped up by a script (rule Q4)") {
  FakeNodes world;
  world.start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  CHECK(world.extend(lock).outcome == ExtensionOutcome::extended);
  world.settle();
  CHECK(world.log(1) == "EVALSHA top-up 1 printer v1 5000; EVAL top-up 1 printer v1 5000");
  CHECK(world.node(1).holds("printer", world.now()));
}

TEST_CASE("a top-up that waits for its connection is not sent when the extension has failed (Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  world.node(1).hung = true;
  world.cut(1);
  world.advance(Link::kBackoffMin);
  for (const unsigned i : {3u, 4u, 5u}) world.node(i).hung = true;
  CHECK(world.extend(lock).outcome == ExtensionOutcome::no_quorum);
  world.node(1).hung = false;
  world.settle();
  CHECK(world.log(1).empty());
}

TEST_CASE("who does not know the validity extends what is held, and tops up nothing (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  const HeldLock told = known_lock("printer", lock.claim->value, 5s);
  CHECK(world.extend(told).outcome == ExtensionOutcome::extended);
  world.settle();
  CHECK(world.log(1) == "LOCK.EXTEND printer v1 PX 5000");
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
}

TEST_CASE("a node where another holds it is not topped up (rule Q4)") {
  FakeNodes world(3);
  world.fenced().start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  world.restart(1);
  world.node(1).inbox +=
      "*5\r\n$12\r\nLOCK.ACQUIRE\r\n$7\r\nprinter\r\n$5\r\nother\r\n"
      "$2\r\nPX\r\n$5\r\n30000\r\n";
  world.node(1).serve(world.now());
  CHECK(world.extend(lock).outcome == ExtensionOutcome::extended);
  CHECK(world.release(lock).outcome == ReleaseOutcome::released);
  world.settle();
  CHECK(world.node(1).holds("printer", world.now()));
}

TEST_CASE("a top-up whose extension failed is released at that node (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  for (const unsigned i : {3u, 4u, 5u}) world.node(i).hung = true;
  CHECK(world.extend(lock).outcome == ExtensionOutcome::no_quorum);
  world.settle();
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
  CHECK_FALSE(world.node(2).holds("printer", world.now()));
  for (const unsigned i : {3u, 4u, 5u}) world.node(i).hung = false;
  world.settle();
  for (const unsigned i : {3u, 4u, 5u}) CHECK(world.node(i).holds("printer", world.now()));
}

TEST_CASE("a late top-up of an extension that failed is released, what was held is not (Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  for (const unsigned i : {1u, 4u, 5u}) world.node(i).hung = true;
  CHECK(world.extend(lock).outcome == ExtensionOutcome::no_quorum);
  for (const unsigned i : {1u, 4u, 5u}) world.node(i).hung = false;
  world.settle();
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
  CHECK(world.node(4).holds("printer", world.now()));
}

TEST_CASE("a late top-up is left alone when a newer extension may count on it (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  for (const unsigned i : {1u, 4u, 5u}) world.node(i).hung = true;
  CHECK(world.extend(lock).outcome == ExtensionOutcome::no_quorum);
  std::optional<ExtendResult> second;
  world.group().extend(lock, world.now(), [&](ExtendResult got) { second = std::move(got); });
  for (const unsigned i : {1u, 4u, 5u}) world.node(i).hung = false;
  world.settle();
  REQUIRE(second.has_value());
  CHECK(second->outcome == ExtensionOutcome::extended);
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.node(i).holds("printer", world.now()));
}

TEST_CASE("an earlier extension's late top-up is no sign that the lock was held (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  world.settle();
  lock.witnesses = nullptr;                                  // who extends it knows of none,
  for (unsigned i = 1; i <= 5; ++i) world.node(i).forget();  // and somebody released it
  world.node(5).hung = true;
  CHECK(world.extend(lock).outcome == ExtensionOutcome::no_quorum);
  std::optional<ExtendResult> second;
  world.group().extend(lock, world.now(), [&](ExtendResult got) { second = std::move(got); });
  world.node(5).hung = false;
  world.settle();
  REQUIRE(second.has_value());
  CHECK(second->outcome == ExtensionOutcome::lost);
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}

TEST_CASE("two extensions at once do not take each other's top-ups for held locks (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  world.settle();
  lock.witnesses = nullptr;                                  // who extends it knows of none,
  for (unsigned i = 1; i <= 5; ++i) world.node(i).forget();  // and somebody released it
  std::optional<ExtendResult> second;
  world.group().extend(lock, world.now(), [](const ExtendResult&) {});
  world.group().extend(lock, world.now(), [&](ExtendResult got) { second = std::move(got); });
  world.settle();
  REQUIRE(second.has_value());
  CHECK(second->outcome == ExtensionOutcome::lost);
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}

TEST_CASE("a release reaches the nodes that were topped up, also those that answered late (Q4)") {
  FakeNodes world;
  for (const unsigned i : {1u, 2u}) world.node(i).down = true;
  world.fenced().start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  for (const unsigned i : {1u, 2u}) world.node(i).down = false;
  world.advance(2s);
  world.node(1).hung = true;
  const ExtendResult extended = world.extend(lock);
  CHECK(extended.outcome == ExtensionOutcome::extended);
  world.release(lock);
  world.node(1).hung = false;
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}

TEST_CASE("a cancelled extension takes its top-ups back (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  for (const unsigned i : {2u, 3u, 4u, 5u}) world.node(i).hung = true;
  bool told = false;
  const OperationId id =
      world.group().extend(lock, world.now(), [&](const ExtendResult&) { told = true; });
  world.settle();
  CHECK(world.node(1).holds("printer", world.now()));
  world.group().cancel(id, world.now());
  for (const unsigned i : {2u, 3u, 4u, 5u}) world.node(i).hung = false;
  world.settle();
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
  CHECK_FALSE(world.node(2).holds("printer", world.now()));
  CHECK(world.node(3).holds("printer", world.now()));
  CHECK_FALSE(told);
}

// A plain Redis keeps no mark of a release: that it lacks what it must hold is the proof (rule Q3).
TEST_CASE("a lock that was released at a quorum is not topped up again (rule Q3)") {
  FakeNodes world;
  const bool is_plain = GENERATE(true, false);
  if (!is_plain) world.fenced();
  world.start();
  const HeldLock lock = world.acquire("printer", 5s)->lock;
  world.settle();
  SECTION("by its holder's first extension") {}
  SECTION("by a later one") {
    world.advance(1s);
    CHECK(world.extend(lock).outcome == ExtensionOutcome::extended);
    world.settle();
  }
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).forget();  // another process was there
  CHECK(world.extend(lock).outcome == ExtensionOutcome::lost);
  world.settle();
  for (const unsigned i : {1u, 2u, 3u}) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}

TEST_CASE("a node must hold a lock while its connection and its time last (rule Q3)") {
  Witnesses witnesses(2);
  CHECK_FALSE(witnesses.must_hold(0, 1, Instant(1s)));
  witnesses.note(0, 7, Instant(5s));
  CHECK(witnesses.must_hold(0, 7, Instant(4s)));
  CHECK_FALSE(witnesses.must_hold(0, 8, Instant(4s)));  // it may have been restarted
  CHECK_FALSE(witnesses.must_hold(0, 7, Instant(5s)));  // it may have run out there
  CHECK_FALSE(witnesses.must_hold(1, 7, Instant(4s)));
  witnesses.note_lack(0, 7, Instant(4s));  // it was released there, and that stays so
  CHECK(witnesses.must_hold(0, 7, Instant(9s)));
  CHECK_FALSE(witnesses.must_hold(0, 8, Instant(9s)));
}

TEST_CASE(
    "a node whose time ran out while it was hung is topped up, though it has told (rule Q3)") {
  FakeNodes world;
  world.fenced().start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  const auto extend = [&] {
    world.advance(1666ms);
    const ExtendResult extended = world.extend(lock);
    CHECK(extended.outcome == ExtensionOutcome::extended);
    lock.valid_until = extended.valid_until;
    world.settle();
  };
  extend();
  world.node(1).hung = true;
  for (int i = 0; i < 4; ++i) extend();
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
  world.node(1).hung = false;
  world.settle();
  extend();
  CHECK(world.node(1).holds("printer", world.now()));
}

TEST_CASE("releases that come slower than the lock runs out meet all the same (rule Q3)") {
  FakeNodes world;
  if (GENERATE(true, false)) world.fenced();
  world.start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  ExtendResult extended{.outcome = ExtensionOutcome::extended, .valid_until = {}, .answers = {}};
  for (const unsigned node : {1u, 2u, 3u}) {
    for (int i = 0; i < 4; ++i) {
      world.advance(1666ms);
      extended = world.extend(lock);
      lock.valid_until = extended.valid_until;
      world.settle();
    }
    CHECK(extended.outcome == ExtensionOutcome::extended);
    world.node(node).forget();  // somebody's DEL, and the next one a while later
  }
  CHECK(world.extend(lock).outcome == ExtensionOutcome::lost);
}

TEST_CASE("a release is final, the undo of a top-up is not (rule Q3)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  for (const unsigned i : {3u, 4u, 5u}) world.node(i).hung = true;
  CHECK(world.extend(lock).outcome == ExtensionOutcome::no_quorum);
  world.settle();
  CHECK(world.log(1).ends_with("LOCK.RELEASE printer v1"));
  for (const unsigned i : {3u, 4u, 5u}) world.node(i).hung = false;
  world.release(lock);
  world.settle();
  CHECK(world.log(1).ends_with("LOCK.RELEASE printer v1 FINAL"));
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).hung = true;
  world.acquire("paper");
  world.settle();
  CHECK(world.log(4).ends_with("LOCK.RELEASE paper v2 FINAL"));
}
