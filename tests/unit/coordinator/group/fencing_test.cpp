// Fencing tokens (rules F3, F4), over a group of five nodes.
#include "coordinator/results/errors.h"
#include "tests/unit/coordinator/group/fake_nodes.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

using Acquired = AcquisitionOutcome;

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
  const Error error = acquisition_error(world.group().nodes(), *got);
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
  const Error error = acquisition_error(world.group().nodes(), *got);
  CHECK_THAT(error.text, Catch::Contains("--no-fence") && !Catch::Contains("admit"));
  CHECK(error.nodes[0].text == "granted; a plain Redis has no fencing tokens");
}

TEST_CASE("who waits gets the lock and its token as soon as a quorum is fenced again (F4, F6)") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(1).fenced = world.node(2).fenced = false;
  world.node(3).hung = true;
  std::optional<AcquireResult> got;
  world.group().acquire({.name = "printer", .patience = {.wait = 10s}}, world.now(),
                        [&](AcquireResult result) { got = std::move(result); });
  world.advance(2s);
  CHECK_FALSE(got.has_value());
  world.node(3).hung = false;
  world.advance(1s);
  REQUIRE(got.has_value());
  CHECK(got->lock.token > 41);
}

TEST_CASE("a wait for ever ends when for long no quorum gives tokens (rule F4)") {
  FakeNodes world;
  world.fenced().start();
  world.node(1).fenced = world.node(2).fenced = false;
  world.node(3).hung = true;
  const Instant before = world.now();
  CHECK(world.acquire("printer", 30s, {.wait = std::nullopt})->outcome == Acquired::unfenced);
  CHECK(world.now() - before >= kPatienceWithoutQuorum);
  CHECK(world.now() - before <= kPatienceWithoutQuorum + 500ms);
}

TEST_CASE("where a quorum of nodes is unfenced no admission helps, and nobody waits (F4, F6)") {
  FakeNodes world;
  world.fenced(41).start();
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).fenced = false;
  const Instant before = world.now();
  CHECK(world.acquire("printer", 30s, {.wait = std::nullopt})->outcome == Acquired::unfenced);
  CHECK(world.now() == before);
}

TEST_CASE("a password that a quorum refuses is not waited for") {
  FakeNodes world;
  world.fenced(41);
  for (const unsigned i : {1u, 2u, 3u}) world.node(i).password = "another";
  world.start();
  const Instant before = world.now();
  const auto got = world.acquire("printer", 30s, {.wait = std::nullopt});
  CHECK(got->outcome == Acquired::no_quorum);
  CHECK(acquisition_error(world.group().nodes(), *got).code == ErrorCode::denied);
  CHECK(world.now() == before);
  world.node(3).password.clear();
  world.advance(2s);  // its link is made anew
  CHECK(world.acquire("printer", 30s, {.wait = std::nullopt})->outcome == Acquired::acquired);
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

TEST_CASE("one counter that somebody has set decides nothing (rule F3)") {
  const Token poison = GENERATE(kTokenMax - 1, Token{1} << 52, (Token{1} << 32) + 100);
  const unsigned poisoned = GENERATE(1u, 3u, 5u);
  FakeNodes world;
  world.fenced(41).start();
  world.node(poisoned).counter = poison;
  for (Token token = 42; token < 45; ++token) {
    const auto got = world.acquire("printer");
    CHECK(got->outcome == Acquired::acquired);
    CHECK(got->lock.token == token);
    world.release(got->lock);
    world.settle();
  }
  for (unsigned i = 1; i <= 5; ++i) CHECK((i == poisoned || world.node(i).counter == 44));
}

TEST_CASE("a counter ahead by no more than the leap is taken up, as one of a node that came back") {
  FakeNodes world;
  world.fenced(41).start();
  world.node(2).counter = 41 + kLeapMax;
  CHECK(world.acquire("printer")->lock.token == 42 + kLeapMax);
}

TEST_CASE(
    "where a quorum is far ahead its numbers count, and those that lag have no part in them") {
  FakeNodes world;
  world.fenced(41).start();
  for (const unsigned i : {1u, 3u, 5u}) world.node(i).counter = Token{1} << 40;
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::acquired);
  CHECK(got->lock.token == (Token{1} << 40) + 1);
}

TEST_CASE("counters that no quorum shares give no token, and the error says where to look") {
  FakeNodes world(3);
  world.node(3).down = true;
  world.fenced(41).start();
  world.node(2).counter = Token{1} << 40;
  const auto got = world.acquire("printer");
  CHECK(got->outcome == Acquired::unfenced);
  const Error error = acquisition_error(world.group().nodes(), *got);
  CHECK(error.text.find("too far apart") != std::string::npos);
}
