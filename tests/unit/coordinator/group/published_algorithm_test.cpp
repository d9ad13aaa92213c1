// The published Redlock algorithm, a test for each thing it says
// (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/). The names of the
// tests say it in our words; the steps are numbered as there.
#include "tests/unit/coordinator/group/fake_nodes.h"
#include "tests/unit/coordinator/quorum/machine_fixture.h"

#include <set>

using namespace redlock;
using namespace redlock::coordinator;

using Acquired = AcquisitionOutcome;

TEST_CASE("one node: a lock is a key set only if it is absent, with a TTL, to a random value") {
  FakeNodes world(1);
  world.start();
  world.acquire("printer", 30s);
  CHECK(world.log(1) == "SET printer v1 NX PX 30000");
}

TEST_CASE("one node: a lock is removed only by who knows its value") {
  FakeNodes world(1);
  world.start();
  const auto got = world.acquire("printer");
  CHECK(world.release(known_lock("printer", "another", 30s)).outcome == ReleaseOutcome::not_held);
  CHECK(world.node(1).holds("printer", world.now()));
  CHECK(world.release(got->lock).outcome == ReleaseOutcome::released);
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
}

TEST_CASE("step 1: the time is read before the nodes are asked") {
  MachineFixture<Acquisition> attempt(five_nodes());
  attempt.start(0ms);
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "+OK", 400ms);
  CHECK(attempt.machine.valid_until() == at(30s - 302ms));
}

TEST_CASE("step 2: every node gets the same name and the same value") {
  FakeNodes world;
  world.start();
  world.acquire("printer");
  std::set<std::string> requests;
  for (unsigned i = 1; i <= 5; ++i) requests.insert(world.log(i));
  CHECK(requests == std::set<std::string>{"SET printer v1 NX PX 30000"});
}

TEST_CASE("step 2: a node is waited for only a small part of the TTL") {
  MachineFixture<Acquisition> attempt(five_nodes(30s));
  attempt.start();
  CHECK(attempt.machine.next_deadline() == at(500ms));
}

TEST_CASE("step 2: a node that is down is passed over at once") {
  FakeNodes world;
  world.node(1).down = world.node(2).down = true;
  world.start();
  const Instant before = world.now();
  CHECK(world.acquire("printer")->outcome == Acquired::acquired);
  CHECK(world.now() == before);
}

TEST_CASE("step 3: acquired if, and only if, a majority granted within the validity") {
  for (unsigned grants = 0; grants <= 5; ++grants) {
    for (const Duration when : {1ms, 97ms}) {  // of a TTL of 100 ms, 97 ms are validity
      MachineFixture<Acquisition> attempt(five_nodes(100ms));
      attempt.start();
      for (unsigned i = 1; i <= 5; ++i) attempt(i, i <= grants ? "+OK" : "(nil)", when);
      const bool acquired = attempt.machine.outcome() == Acquired::acquired;
      CHECK(acquired == (grants >= 3 && when < 97ms));
    }
  }
}

TEST_CASE("step 4: what is left is the TTL less the time that passed, less the clocks' drift") {
  MachineFixture<Acquisition> attempt(five_nodes(10s));
  attempt.start(0ms);
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "+OK", 200ms);
  CHECK(attempt.machine.valid_until() - at(200ms) == 10s - 200ms - 102ms);
}

TEST_CASE("step 5: a failed attempt is unlocked at all nodes, also those that refused it") {
  FakeNodes world(3);
  world.start();
  const auto first = world.acquire("printer");
  for (unsigned i = 1; i <= 3; ++i) world.log(i);
  CHECK(world.acquire("printer")->outcome == Acquired::held);
  world.settle();
  for (unsigned i = 1; i <= 3; ++i) {
    CHECK_THAT(world.log(i), Catch::StartsWith("SET printer v2 NX PX 30000; EVALSHA release 1 "
                                               "printer v2"));
  }
}

TEST_CASE("step 5: an attempt that was too late is unlocked as well") {
  MachineFixture<Acquisition> attempt(five_nodes(100ms));
  attempt.start();
  attempt(1, "+OK", 98ms);
  attempt(2, "+OK", 98ms);
  CHECK(attempt(3, "+OK", 98ms) == "undo 1 2 3 4 5");
}

TEST_CASE("retry: another attempt comes after a random delay") {
  std::set<Duration> delays;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    Retry retry({.wait = 10s}, at(0ms));
    delays.insert(*retry.after(Acquired::held, true, at(0ms), random) - at(0ms));
  }
  CHECK(delays.size() == 10);
}

TEST_CASE("retry: all nodes are asked at the same time, so that few votes are split") {
  FakeNodes world;
  world.start();
  world.group().acquire({.name = "printer", .fence = false}, world.now(),
                        [](const AcquireResult&) {});
  for (NodeIndex i = 0; i < 5; ++i) CHECK_FALSE(world.group().link(i).outgoing().empty());
  world.settle();
}

TEST_CASE("retry: a partial lock is given back at once, not when its TTL ends") {
  FakeNodes world;
  world.start();
  for (const unsigned i : {3u, 4u, 5u}) world.node(i).recovering = true;
  const Instant before = world.now();
  CHECK(world.acquire("printer")->outcome == Acquired::no_quorum);
  world.settle();
  CHECK(world.now() == before);
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
  CHECK_FALSE(world.node(2).holds("printer", world.now()));
}

TEST_CASE("release: it goes to all nodes, whether or not they are believed to hold it") {
  FakeNodes world;
  world.start();
  const auto other = world.acquire("printer");
  for (unsigned i = 1; i <= 5; ++i) world.log(i);
  world.release(known_lock("printer", "mine", 30s));
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.log(i).empty());
}

TEST_CASE("safety: while a majority holds the key, nobody else gets it") {
  FakeNodes world;
  for (const unsigned i : {4u, 5u}) world.node(i).down = true;
  world.start();
  const auto first = world.acquire("printer");
  CHECK(first->outcome == Acquired::acquired);
  for (const unsigned i : {4u, 5u}) world.node(i).down = false;
  world.advance(5s);
  CHECK(world.acquire("printer")->outcome == Acquired::held);
}

TEST_CASE("liveness: a lock whose holder is gone is free again when its TTL has passed") {
  FakeNodes world;
  world.start();
  world.acquire("printer", 5s);
  world.advance(5s);
  CHECK(world.acquire("printer")->outcome == Acquired::acquired);
}

TEST_CASE("extension: only nodes that still hold the value extend it, and a majority must") {
  FakeNodes world;
  for (const unsigned i : {4u, 5u}) world.node(i).down = true;
  world.start();
  const auto got = world.acquire("printer", 5s);
  for (const unsigned i : {4u, 5u}) world.node(i).down = false;
  world.advance(2s);
  // As another process extends it, that knows the value alone: so nothing is topped up (rule Q4).
  const HeldLock told = known_lock("printer", got->lock.claim->value, 5s);
  CHECK(world.extend(told).outcome == ExtensionOutcome::extended);
  world.node(1).down = true;
  world.cut(1);
  CHECK(world.extend(told).outcome == ExtensionOutcome::no_quorum);
  CHECK_FALSE(world.node(4).holds("printer", world.now()));
}

TEST_CASE("extension: it counts only within the validity of the lock") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer", 5s);
  world.advance(5s);
  CHECK(world.extend(got->lock).outcome == ExtensionOutcome::lost);
}
