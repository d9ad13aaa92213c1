#include "coordinator/group/group.h"

#include "tests/unit/coordinator/group/fake_nodes.h"

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

TEST_CASE("operations at once have no limit but memory: each keeps a slot of its own") {
  FakeNodes world;
  constexpr std::size_t kMany = (std::size_t(1) << 20) + 1;
  std::size_t told = 0;
  OperationId last;
  for (std::size_t i = 0; i < kMany; ++i) {
    last = world.group().when_ready(world.now(), [&told] { ++told; });
  }
  CHECK(world.group().operations() == kMany);
  CHECK(last.slot == kMany - 1);
  world.group().cancel(last, world.now());
  CHECK(world.group().operations() == kMany - 1);
  CHECK(told == 0);
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

TEST_CASE("who waits is told of each attempt that others follow, and of no other") {
  FakeNodes world;
  world.start();
  const auto first = world.acquire("printer", 2s);
  std::vector<Acquired> failed;
  std::optional<AcquireResult> result;
  const auto acquire = [&](Patience patience) {
    result.reset();
    failed.clear();
    world.group().acquire({.name = "printer",
                           .patience = patience,
                           .fence = false,
                           .on_retry =
                               [&](const AcquireResult& attempt) {
                                 CHECK(attempt.answers.size() == 5);
                                 failed.push_back(attempt.outcome);
                               }},
                          world.now(), [&](AcquireResult got) { result = std::move(got); });
  };
  acquire({});
  world.settle();
  REQUIRE(result);
  CHECK(failed.empty());
  acquire({.wait = 10s});
  world.advance(1s);
  CHECK(failed.size() > 1);
  CHECK(failed[0] == Acquired::held);
  for (const unsigned down : {1u, 2u, 3u}) {
    world.node(down).down = true;
    world.cut(down);
  }
  world.advance(500ms);
  CHECK(failed.back() == Acquired::no_quorum);
  for (const unsigned up : {1u, 2u, 3u}) world.node(up).down = false;
  world.advance(5s);
  REQUIRE(result);
  CHECK(result->outcome == Acquired::acquired);
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

TEST_CASE("a node that hung before it was connected is never sent a grant that is over by then") {
  FakeNodes world;
  world.node(1).hung = true;
  world.start();
  const auto got = world.acquire("printer");
  world.release(got->lock);
  world.node(1).hung = false;
  world.settle();
  CHECK(world.log(1).find("SET") == std::string::npos);
}

TEST_CASE("what waits for a connection when its attempt has failed is never written") {
  FakeNodes world;
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).hung = true;
  world.start();
  CHECK(world.acquire("printer")->outcome == AcquisitionOutcome::no_quorum);
  world.go_on(1);
  CHECK(world.log(1).empty());
}

TEST_CASE("a failed attempt is undone behind the SET on the same connection (rule Q3)") {
  FakeNodes world;
  world.start();
  world.node(1).hung = world.node(2).hung = world.node(3).hung = true;
  const auto failed = world.acquire("printer");
  CHECK(failed->outcome == Acquired::no_quorum);
  CHECK(world.group().releases_under_way() == world.group().releases_pending());
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
  CHECK(world.log(1) == "EVAL release 1 printer v1");
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
  CHECK(world.group().releases_under_way() == 0);  // the node cannot be reached
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

TEST_CASE("a node that another address comes to lead to has no second vote (rule Q5)") {
  FakeNodes world(3);
  world.node(3).down = true;
  world.node(2).hung = true;  // in its greeting: nobody was ever met there
  world.start();
  std::optional<AcquireResult> got;
  world.group().acquire({.name = "printer", .fence = false}, world.now(),
                        [&](AcquireResult result) { got = std::move(result); });
  world.settle();  // node 1 has granted
  world.node(1).down = true;
  world.cut(1);
  world.node(2).id = "id1";
  world.node(2).hung = false;
  world.settle();
  CHECK(world.log(2).starts_with("SET printer v1"));
  REQUIRE(got);
  CHECK(got->outcome == Acquired::no_quorum);
  CHECK(got->answers[1].kind == AnswerKind::broken);
}

TEST_CASE("what waits for one node is not written to another (rule Q5)") {
  FakeNodes world(3);
  world.start();
  world.node(3).down = true;
  world.cut(3);
  world.node(2).hung = true;
  world.cut(2);
  world.advance(20ms);  // dialled again, and in its greeting
  world.node(2).id = "id9";
  std::optional<AcquireResult> got;
  world.group().acquire({.name = "printer", .fence = false}, world.now(),
                        [&](AcquireResult result) { got = std::move(result); });
  world.settle();
  world.node(2).hung = false;
  world.settle();
  REQUIRE(got);
  CHECK(got->outcome == Acquired::no_quorum);
  CHECK(answer_text(got->answers[1]) == "the address leads to another node now");
  CHECK(world.log(2).empty());
  CHECK(world.acquire("printer")->outcome == Acquired::acquired);
}

TEST_CASE("two nodes that changed addresses are both taken again (rule Q5)") {
  FakeNodes world(3);
  world.start();
  std::swap(world.node(1).id, world.node(2).id);
  world.node(1).down = world.node(2).down = true;
  world.cut(1);
  world.cut(2);
  world.node(1).down = world.node(2).down = false;
  world.advance(1s);
  CHECK(world.link(1).is_ready());
  CHECK(world.link(2).is_ready());
}

TEST_CASE("a wrong password is told per node, and nothing is asked of that node") {
  FakeNodes world(3, "secret");
  world.node(1).password = world.node(2).password = "other";
  world.node(3).password = "secret";
  world.start();
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::no_quorum);
  CHECK(got->answers[0].kind == AnswerKind::denied);
  CHECK(answer_text(got->answers[0]) == "refuses the password");
}

TEST_CASE("nodes whose settings are not safe are not asked, and no waiting helps") {
  FakeNodes world;
  world.fenced();
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).warning = "restart-delay off is not safe";
  world.start();
  const Instant asked = world.now();
  const auto got = world.acquire("printer", 30s, {.wait = 10s});
  CHECK(got->outcome == AcquisitionOutcome::no_quorum);
  CHECK(got->answers[0].kind == AnswerKind::unsafe);
  CHECK(got->answers[0].text == "restart-delay off is not safe");
  CHECK(world.now() == asked);
  CHECK(world.log(1).empty());
}

TEST_CASE("servers without HELLO serve as nodes, with a password too") {
  FakeNodes world(3, "secret");
  for (const unsigned i : {1u, 2u, 3u}) {
    world.node(i).password = "secret";
    world.node(i).knows_hello = false;
  }
  world.start();
  CHECK(world.acquire("printer")->outcome == Acquired::acquired);
  CHECK(world.log(1) == "SET printer v1 NX PX 30000");
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

TEST_CASE("when_ready comes with the node timeout where no quorum is linked") {
  FakeNodes world;
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).hung = true;
  world.start();
  bool ready = false;
  world.group().when_ready(world.now(), [&] { ready = true; });
  world.advance(499ms);
  CHECK_FALSE(ready);
  world.advance(1ms);
  CHECK(ready);
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

TEST_CASE("when_ready comes at once when the last links are given up") {
  FakeNodes world;
  for (const unsigned i : {1u, 2u, 3u, 4u, 5u}) world.node(i).hung = true;
  world.start();
  world.advance(Link::kGreetingTimeMax - 100ms);
  bool ready = false;
  world.group().when_ready(world.now(), [&] { ready = true; });
  world.advance(100ms);
  CHECK(ready);
}

TEST_CASE("a survey asks every node and waits for all, at most for the node timeout") {
  FakeNodes world;
  world.start();
  const auto got = world.acquire("printer");
  world.node(1).hung = true;
  std::optional<std::vector<NodeFinding>> findings;
  world.group().survey(std::array{RequestKind::get}, "printer", world.now(),
                       [&](std::vector<NodeFinding> found) { findings = std::move(found); });
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
  const std::size_t pairs = Link::kInFlightMax;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::optional<ReleaseResult> released;
    world.group().acquire(
        {.name = "a", .fence = false}, world.now(), [&](const AcquireResult& got) {
          world.group().release(got.lock, world.now(),
                                [&](ReleaseResult result) { released = std::move(result); });
        });
    while (!released) world.settle();
  }
  CHECK(world.link(1).releases_pending() <= Link::kInFlightMax);
  const std::size_t before = world.node(1).requests;
  world.node(1).hung = false;
  world.settle();
  CHECK(world.node(1).requests - before <= 2 * Link::kInFlightMax);
  CHECK_FALSE(world.node(1).holds("a", world.now()));
  CHECK(world.link(1).releases_pending() == 0);
}

TEST_CASE("what a group counts begins anew when that is asked for") {
  SECTION("attempts that failed as others wanted the lock, too") {
    FakeNodes world;
    world.node(4).down = world.node(5).down = true;
    world.start();
    for (const auto* name : {"a", "b"}) world.acquire(name);
    CHECK(world.acquire("b")->outcome == AcquisitionOutcome::held);
    CHECK(world.group().figures().split_votes == 0);
    world.node(1).forget();
    CHECK(world.acquire("a")->outcome == AcquisitionOutcome::held);
    CHECK(world.group().figures().split_votes == 1);
    world.group().forget_figures();
    CHECK(world.group().figures().split_votes == 0);
  }
  SECTION("acquisitions whose token took a second round trip, and votes") {
    FakeNodes world;
    world.fenced().start();
    world.acquire("a");
    CHECK(world.group().figures().second_rounds == 0);
    world.node(1).counter = 41;
    CHECK(world.acquire("b")->lock.token == 42);
    CHECK(world.group().figures().second_rounds == 1);
    CHECK(world.link(1).votes().yes == 2);
    world.group().forget_figures();
    CHECK(world.link(1).votes().yes == 0);
  }
}

TEST_CASE("a lock that nobody was told of, or that is released, is taken back at every node") {
  const bool is_prefix = GENERATE(true, false);
  FakeNodes world;
  world.start();
  const HeldLock lock = world.acquire("printer")->lock;
  is_prefix ? world.group().release_prefix(lock, world.now())
            : world.group().undo(lock, world.now());
  world.settle();
  for (unsigned i = 1; i <= 5; ++i) CHECK_FALSE(world.node(i).holds("printer", world.now()));
}
