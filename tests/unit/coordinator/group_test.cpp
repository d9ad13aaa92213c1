#include "coordinator/group.h"

#include "coordinator/errors.h"
#include "tests/unit/coordinator/fake_nodes.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

using Acquired = AcquisitionOutcome;

TEST_CASE("a lock is acquired, extended and released at every node") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::acquired);
  CHECK(got->lock.claim->value == "v1");
  CHECK(got->lock.valid_until == world.now() + 30s - 302ms);
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.log(i) == "SET printer v1 NX PX 30000");

  world.advance(10s);
  CHECK(world.extend(got->lock).outcome == ExtensionOutcome::extended);
  CHECK(world.release(got->lock).outcome == ReleaseOutcome::released);
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}

TEST_CASE("a script that a node does not know is sent in full, once") {
  FakeNodes world;
  world.start();
  for (int i = 0; i < 2; ++i) {
    const auto got = world.acquire("a");
    world.release(got->lock);
    world.settle();
  }
  CHECK(world.log(1) ==
        "SET a v1 NX PX 30000; EVALSHA release 1 a v1; EVAL release 1 a v1; "
        "SET a v2 NX PX 30000; EVALSHA release 1 a v2");
}

TEST_CASE("a second holder is refused, and its failed attempt leaves the first in place") {
  FakeNodes world;
  world.start();
  const auto first = world.acquire("printer");
  const auto second = world.acquire("printer");
  CHECK(second->outcome == Acquired::held);
  world.settle();
  CHECK(world.group().releases_pending() == 0);
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.node(i).holds("printer", world.now()));
}

TEST_CASE("who waits gets it when the holder is gone, each attempt with a new value (rule Q6)") {
  FakeNodes world;
  world.start();
  const auto first = world.acquire("printer", 2s);
  const auto second = world.acquire("printer", 2s, {.wait = std::nullopt});
  CHECK(second->outcome == Acquired::acquired);
  CHECK(second->lock.claim->value != first->lock.claim->value);
  CHECK(world.now() >= first->lock.valid_until);
}

TEST_CASE("two hung nodes cost nothing: three decide at the same instant (rule Q1)") {
  FakeNodes world;
  world.start();
  world.node(1).hung = world.node(4).hung = true;
  const Instant before = world.now();
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::acquired);
  CHECK(world.release(got->lock).outcome == ReleaseOutcome::released);
  CHECK(world.now() == before);
}

TEST_CASE("a hung node that continues finds each release behind its SET (rule Q3)") {
  FakeNodes world;
  world.start();
  world.node(1).hung = true;
  for (int i = 0; i < 3; ++i) world.release(world.acquire("printer")->lock);
  world.node(1).hung = false;
  world.settle();
  CHECK_FALSE(world.node(1).holds("printer", world.now()));
  CHECK(world.group().releases_pending() == 0);
}

TEST_CASE("a node that hung before it was connected is never sent what is over by then") {
  FakeNodes world;
  world.node(1).hung = true;
  world.start();
  const auto got = world.acquire("printer");
  CHECK_FALSE(got->lock.asked.test(0));
  world.release(got->lock);
  world.node(1).hung = false;
  world.settle();
  CHECK(world.log(1).empty());
}

TEST_CASE("a failed attempt is undone behind the SET on the same connection (rule Q3)") {
  FakeNodes world;
  world.start();
  world.node(1).hung = world.node(2).hung = world.node(3).hung = true;
  const auto failed = world.acquire("printer");
  CHECK(failed->outcome == Acquired::no_quorum);
  CHECK(world.group().releases_pending() > 0);
  world.node(1).hung = world.node(2).hung = world.node(3).hung = false;
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
  CHECK(world.group().releases_pending() == 0);
}

TEST_CASE(
    "an undo whose connection broke is sent on the next one, until it is answered (rule Q3)") {
  FakeNodes world;
  world.start();
  world.node(3).down = world.node(4).down = world.node(5).down = true;
  for (const unsigned i : {3u, 4u, 5u}) world.cut(i);
  world.node(1).hung = true;
  CHECK(world.acquire("printer")->outcome == Acquired::no_quorum);
  world.cut(1);  // with the SET and the undo unread
  CHECK(world.group().releases_pending() == 1);
  world.node(1).hung = false;
  world.advance(1s);
  CHECK(world.log(1) == "EVALSHA release 1 printer v1; EVAL release 1 printer v1");
  CHECK(world.group().releases_pending() == 0);
}

TEST_CASE("an undo that cannot be sent is forgotten when the TTL has passed (rule Q3)") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer", 2s);
  world.node(1).down = true;
  world.cut(1);
  world.release(got->lock);
  CHECK(world.group().releases_pending() == 1);
  world.advance(4s);
  CHECK(world.group().releases_pending() == 0);
  world.node(1).down = false;
  world.log(1);
  world.advance(2s);
  CHECK(world.log(1).empty());
}

TEST_CASE("a cancelled acquisition is undone and tells nobody") {
  FakeNodes world;
  world.start();
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).hung = true;
  bool told = false;
  const OperationId id = world.group().acquire({.name = "printer", .fence = false}, world.now(),
                                               [&](const AcquireResult&) { told = true; });
  world.settle();
  CHECK(world.node(4).holds("printer", world.now()));
  world.group().cancel(id, world.now());
  world.advance(1s);
  CHECK_FALSE(world.node(4).holds("printer", world.now()));
  CHECK_FALSE(told);
}

TEST_CASE("a second address of one node is an error, and votes for nothing (rule Q5)") {
  FakeNodes world(3);
  world.node(2).id = "id1";
  world.start();
  world.node(3).down = true;
  world.cut(3);
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::no_quorum);
  CHECK(got->answers[1].kind == AnswerKind::duplicate);
  CHECK(answer_text(got->answers[1]) == "is the same node as node1:6379");
  CHECK(world.log(2).empty());
}

TEST_CASE("an id stays with its address while that is not connected (rule Q5)") {
  FakeNodes world(3);
  world.node(2).id = "id1";
  world.start();
  world.node(1).down = true;
  world.cut(1);
  world.advance(10s);
  CHECK(world.link(2).state() != Pipeline::State::ready);
}

TEST_CASE("two nodes that changed addresses are both taken again (rule Q5)") {
  FakeNodes world(3);
  world.start();
  std::swap(world.node(1).id, world.node(2).id);
  world.node(1).down = world.node(2).down = true;
  world.cut(1);
  world.cut(2);
  world.node(1).down = world.node(2).down = false;
  world.advance(10s);
  CHECK(world.link(1).state() == Pipeline::State::ready);
  CHECK(world.link(2).state() == Pipeline::State::ready);
}

TEST_CASE("a wrong password is told per node, and nothing is asked of that node") {
  FakeNodes world(3, "secret");
  world.node(1).password = world.node(2).password = "other";
  world.node(3).password = "secret";
  world.start();
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::no_quorum);
  CHECK(got->answers[0].kind == AnswerKind::denied);
  CHECK_THAT(answer_text(got->answers[0]), Catch::StartsWith("WRONGPASS"));
}

TEST_CASE("nothing counts before the node has told who it is") {
  FakeNodes world;
  world.node(1).hung = true;
  world.start();
  std::optional<AcquireResult> got;
  for (const unsigned i : {2u, 3u, 4u}) world.node(i).hung = true;
  world.group().acquire({.name = "a", .fence = false}, world.now(),
                        [&](AcquireResult r) { got = std::move(r); });
  CHECK(world.node(1).inbox.find("SET") == std::string::npos);
  world.node(1).hung = false;
  world.settle();
  CHECK(world.log(1) == "SET a v1 NX PX 30000");
}

TEST_CASE("the answer to an earlier attempt is no vote in a later one") {
  FakeNodes world(3);
  world.start();
  const auto holder = world.acquire("a", 30s);
  world.node(1).hung = true;
  std::optional<AcquireResult> got;
  world.group().acquire({"a", 30s, {.wait = 10s}, false}, world.now(),
                        [&](AcquireResult r) { got = std::move(r); });
  world.advance(2s);  // several attempts; node 1 owes an answer to each
  world.release(holder->lock);
  world.node(2).hung = world.node(3).hung = true;
  world.node(1).hung = false;
  world.advance(100ms);
  CHECK_FALSE(got.has_value());
}

TEST_CASE("when_ready comes when all are linked, or a quorum and as much time again") {
  FakeNodes world;
  for (const unsigned i : {1u, 2u, 3u, 4u, 5u}) world.node(i).hung = true;
  world.start();
  std::optional<Instant> ready;
  world.group().when_ready(world.now(), [&] { ready = world.now(); });
  world.advance(20ms);
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).hung = false;
  const Instant quorum = world.now();
  world.advance(100ms);
  REQUIRE(ready.has_value());
  CHECK(*ready == quorum + 20ms);
}

TEST_CASE("when_ready comes at once when every link is made or refused") {
  FakeNodes world;
  world.node(2).down = true;
  world.start();
  bool ready = false;
  world.group().when_ready(world.now(), [&] { ready = true; });
  world.settle();
  CHECK(ready);
}

TEST_CASE("a survey asks every node and waits for all, at most for the node timeout") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer");
  world.node(1).hung = true;
  std::optional<std::vector<Finding>> findings;
  world.group().survey({RequestKind::get}, "printer", world.now(),
                       [&](std::vector<Finding> found) { findings = std::move(found); });
  world.advance(499ms);
  CHECK_FALSE(findings.has_value());
  world.advance(1ms);
  REQUIRE(findings.has_value());
  CHECK((*findings)[0].answer.kind == AnswerKind::timed_out);
  CHECK((*findings)[1].replies[0].text() == "v1");
}

TEST_CASE("callbacks may begin the next operation: a thousand pairs in a row") {
  FakeNodes world;
  world.start();
  int pairs = 0;
  std::function<void()> next = [&] {
    world.group().acquire({.name = "a", .fence = false}, world.now(),
                          [&](const AcquireResult& got) {
                            REQUIRE(got.outcome == Acquired::acquired);
                            world.group().release(got.lock, world.now(), [&](const ReleaseResult&) {
                              if (++pairs < 1000) next();
                            });
                          });
  };
  next();
  world.settle();
  CHECK(pairs == 1000);
}

TEST_CASE("a node that hangs for long is sent no more than its limit, and told in the end") {
  FakeNodes world(3);
  world.start();
  world.release(world.acquire("a")->lock);
  world.node(1).hung = true;
  const std::size_t pairs = Pipeline::kInFlightMax;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::optional<ReleaseResult> released;
    world.group().acquire(
        {.name = "a", .fence = false}, world.now(), [&](const AcquireResult& got) {
          world.group().release(got.lock, world.now(),
                                [&](ReleaseResult result) { released = std::move(result); });
        });
    while (!released) world.settle();
  }
  CHECK(world.link(1).releases_pending() <= Pipeline::kInFlightMax);
  const std::size_t before = world.node(1).requests;
  world.node(1).hung = false;
  world.settle();
  CHECK(world.node(1).requests - before <= 2 * Pipeline::kInFlightMax);
  CHECK_FALSE(world.node(1).holds("a", world.now()));
  CHECK(world.link(1).releases_pending() == 0);
}

// --- fencing tokens

TEST_CASE("nodes that saw the same grants give the token in one round trip (rule F3)") {
  FakeNodes world;
  world.fenced(41).start();
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::acquired);
  CHECK(got->lock.token == 42);
  CHECK(got->lock.round_trips == 1);
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.log(i) == "LOCK.ACQUIRE printer v1 PX 30000");
}

TEST_CASE("after a node came back with a higher counter a confirm brings the others up (rule F3)") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(2).counter = 1000;
  const auto got = world.acquire("printer");
  CHECK(got->lock.token == 1001);
  CHECK(got->lock.round_trips == 2);
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.node(i).token("printer") == 1001);
  world.release(got->lock);
  world.settle();
  const auto next = world.acquire("printer");
  CHECK(next->lock.token == 1002);
  CHECK(next->lock.round_trips == 1);
}

TEST_CASE("a node that grants when the lock is acquired already is asked to confirm it (rule F3)") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(4).hung = world.node(5).hung = true;
  world.node(1).counter = 100;
  const auto got = world.acquire("printer");
  CHECK(got->lock.token == 101);
  world.advance(2s);
  world.node(4).hung = world.node(5).hung = false;
  world.settle();
  CHECK(world.node(4).token("printer") == 101);
  CHECK(world.node(5).counter == 101);
}

TEST_CASE("a late grant of a lock that is released by then is confirmed to nobody") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(5).hung = true;
  world.node(1).counter = 100;
  world.release(world.acquire("printer")->lock);
  world.node(5).hung = false;
  world.settle();
  CHECK_FALSE(world.node(5).holds("printer", world.now()));
}

TEST_CASE("a node that hangs at its confirm costs nothing when a quorum took the token (Q1, F3)") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(1).counter = 100;
  world.node(2).hangs_at = "LOCK.CONFIRM";
  const Instant before = world.now();
  const auto got = world.acquire("printer");
  CHECK(got->lock.token == 101);
  CHECK(world.now() == before);
}

TEST_CASE("a token that no quorum took by the node timeout fails, and is undone (rules F3, Q3)") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(1).counter = 100;
  for (const unsigned i : {2u, 3u, 4u, 5u}) world.node(i).hangs_at = "LOCK.CONFIRM";
  CHECK(world.acquire("printer")->outcome == Acquired::no_quorum);
  for (unsigned i = 1; i <= 5; ++i) {
    world.node(i).hangs_at.clear();
    world.node(i).hung = false;
  }
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}

TEST_CASE("tokens rise from holder to holder while nodes come and go with old counters (F3)") {
  FakeNodes world;
  world.fenced(0).start();
  Token last = 0;
  for (unsigned round = 0; round < 20; ++round) {
    FakeNode& out = world.node(1 + round % 5);
    out.hung = true;
    const auto got = world.acquire("printer");
    CHECK(got->lock.token > last);
    last = got->lock.token;
    world.release(got->lock);
    out.hung = false;
    if (round % 3 == 0) out.counter += 7;
    world.settle();
  }
}

TEST_CASE("unfenced nodes: the error names them and what helps; nothing is left (rule F4)") {
  FakeNodes world;
  world.fenced().start();
  for (const unsigned i : {1u, 2u, 5u}) world.node(i).fenced = false;
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::unfenced);
  const Error error = acquisition_error(world.group().options().nodes, *got);
  CHECK(error.code == ErrorCode::unfenced);
  CHECK_THAT(error.text, Catch::Contains("`redlock admit`") &&
                             Catch::Contains("`redlock admit --new-group`") &&
                             Catch::Contains("--no-fence"));
  CHECK_THAT(error.nodes[0].text, Catch::Contains("unfenced"));
  CHECK_THAT(error.nodes[2].text, !Catch::Contains("unfenced"));
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}

TEST_CASE("two unfenced nodes of five are no hindrance (rule F4)") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(1).fenced = world.node(2).fenced = false;
  CHECK(world.acquire("printer")->lock.token == 42);
}

TEST_CASE("plain Redis servers give no tokens: that is told at once, however long the wait (F4)") {
  FakeNodes world;
  world.start();
  std::optional<AcquireResult> got;
  world.group().acquire({.name = "printer", .patience = {.wait = std::nullopt}}, world.now(),
                        [&](AcquireResult result) { got = std::move(result); });
  world.settle();
  REQUIRE(got.has_value());
  CHECK(got->outcome == Acquired::unfenced);
  const Error error = acquisition_error(world.group().options().nodes, *got);
  CHECK_THAT(error.text, Catch::Contains("--no-fence") && !Catch::Contains("admit"));
  CHECK(error.nodes[0].text == "granted; a plain Redis has no fencing tokens");
}

TEST_CASE("who waits gets the lock and its token as soon as a node is admitted (rules F4, F6)") {
  FakeNodes world;
  world.fenced(41).start();
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).fenced = false;
  std::optional<AcquireResult> got;
  world.group().acquire({.name = "printer", .patience = {.wait = 10s}}, world.now(),
                        [&](AcquireResult result) { got = std::move(result); });
  world.advance(2s);
  CHECK_FALSE(got.has_value());
  world.node(1).fenced = true;
  world.advance(1s);
  REQUIRE(got.has_value());
  CHECK(got->lock.token > 41);
}

TEST_CASE("a wait for ever ends when for long no quorum gives tokens (rule F4)") {
  FakeNodes world;
  world.fenced().start();
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).fenced = false;
  const Instant before = world.now();
  CHECK(world.acquire("printer", 30s, {.wait = std::nullopt})->outcome == Acquired::unfenced);
  CHECK(world.now() - before == kPatienceWithoutQuorum);
}

TEST_CASE("a plain Redis among redlock-nodes votes for locks and is never asked about tokens") {
  FakeNodes world;
  world.fenced(41);
  world.node(1).kind = world.node(2).kind = NodeKind::plain_redis;
  world.start();
  world.node(3).counter = 100;
  const auto got = world.acquire("printer");
  CHECK(got->lock.token == 101);
  CHECK(world.log(1) == "SET printer v1 NX PX 30000");
}

// --- top-up

namespace {

// A lock whose nodes 1 and 2 were restarted: they answer, and have lost it.
HeldLock lock_with_two_nodes_lost(FakeNodes& world) {
  const auto got = world.acquire("printer", 5s);
  world.settle();
  world.node(1).forget();
  world.node(2).forget();
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
    world.node(i).forget();
    world.advance(1s);
    const ExtendResult extended = world.extend(lock);
    CHECK(extended.outcome == ExtensionOutcome::extended);
    lock.valid_until = extended.valid_until;
    lock.asked = extended.asked;
    world.settle();
  }
  for (unsigned i = 1; i <= 5; ++i) CHECK(world.node(i).holds("printer", world.now()));
}

TEST_CASE("three nodes that lost it at once are topped up within the validity (rule Q4)") {
  FakeNodes world;
  world.fenced().start();
  const HeldLock lock = lock_with_two_nodes_lost(world);
  world.node(3).forget();
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
  world.node(1).forget();
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
  world.node(1).forget();
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

TEST_CASE("a release reaches the nodes that were topped up, also those that answered late (Q4)") {
  FakeNodes world;
  for (const unsigned i : {1u, 2u}) world.node(i).down = true;
  world.fenced().start();
  HeldLock lock = world.acquire("printer", 5s)->lock;
  CHECK_FALSE(lock.asked.test(0));
  for (const unsigned i : {1u, 2u}) world.node(i).down = false;
  world.advance(2s);
  world.node(1).hung = true;
  const ExtendResult extended = world.extend(lock);
  CHECK(extended.outcome == ExtensionOutcome::extended);
  CHECK(extended.asked.test(0));
  CHECK(extended.asked.test(1));
  lock.asked = extended.asked;
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
