// Work whose size others choose, done in pieces or refused: waits that end together, names
// to listen to, and patterns.
#include "protocol/catalogue/glob.h"
#include "server/settings/piece.h"
#include "tests/support/slow_node.h"

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

// alice waits for many keys that bob holds.
struct ManyWaits : SlowNode {
  static constexpr int kKeys = 3000;
  ManyWaits() {
    ask(alice, "HELLO 3");
    for (int i = 0; i < kKeys; ++i) {
      ask(bob, fmt::format("SET {} bob PX 60000", i));
      ask(alice, fmt::format("LOCK.WAIT {} 1000 PUSH", i));
    }
    CHECK(waits() == kKeys);
  }
  std::size_t waits() { return node.waiters().count(); }
  // Each of them just once, some a turn.
  void check_told_in_pieces(std::string_view how) {
    CHECK(waits() > kKeys / 2);
    int pieces = 0;
    for (; node.next_work().value_or(kNever) <= now.monotonic; ++pieces) turn();
    CHECK(pieces > 2);
    CHECK(waits() == 0);
    for (int i = 0; i < kKeys; ++i) {
      const std::string told = alice.receive();
      CAPTURE(told);
      REQUIRE(told.ends_with(how));
    }
    CHECK(alice.receive() == "(none)");
  }
};

}  // namespace

TEST_CASE("whoever waits for a key is told in pieces, when all are freed") {
  ManyWaits world;
  CHECK(world.ask(world.bob, "FLUSHALL") == "+OK");
  world.check_told_in_pieces("(integer) 1]");
}

TEST_CASE("waits that run out together are told in pieces") {
  ManyWaits world;
  world.now.monotonic += 1s;
  world.turn();
  world.check_told_in_pieces("(integer) 0]");
}

TEST_CASE("of a client that ends some of what it waits for is forgotten, and then the rest") {
  ManyWaits world;
  CHECK(world.node.forget_some(world.alice.session(), 1000) == 1000);
  CHECK(world.waits() == ManyWaits::kKeys - 1000);
  CHECK(world.node.forget_some(world.alice.session(), ManyWaits::kKeys) == ManyWaits::kKeys - 1000);
  CHECK(world.waits() == 0);
  CHECK(world.node.forget_some(world.alice.session(), 1) == 0);
}

TEST_CASE("RESET of a client that waits for much goes on in pieces, and is answered once") {
  ManyWaits world;
  world.alice.send("RESET", world.now);
  CHECK(world.waits() > 0);
  CHECK(world.waits() < ManyWaits::kKeys);
  CHECK(world.ask(world.bob, "PING") == "+PONG");
  CHECK(world.turns() >= 2);
  CHECK(world.waits() == 0);
  CHECK(world.alice.receive() == "+RESET");
  CHECK(world.alice.receive() == "(none)");
}

TEST_CASE("a key that is taken again before its waiter's turn is waited for") {
  ManyWaits world;
  CHECK(world.ask(world.bob, "FLUSHALL") == "+OK");
  int taken = 0;
  for (int i = 0; i < ManyWaits::kKeys; ++i) {
    world.bob.send(fmt::format("SET {} bob NX PX 60000", i), world.now);
    taken += world.bob.receive() == "+OK" ? 1 : 0;
  }
  CHECK(taken == ManyWaits::kKeys);
  while (world.node.waiters().has_more()) world.turn();
  CHECK(world.waits() > 0);
  CHECK(world.waits() < ManyWaits::kKeys);
  CHECK(world.ask(world.bob, "FLUSHALL") == "+OK");
  world.turns();
  CHECK(world.waits() == 0);
}

TEST_CASE("keys that are given up meanwhile are looked at behind the others, and in the end") {
  ManyWaits world;
  world.ask(world.bob, "FLUSHALL");
  for (int i = 0; i < ManyWaits::kKeys && world.node.waiters().has_more(); ++i) {
    world.ask(world.bob, "SET other bob PX 60000");
    world.bob.send("DEL other", world.now);
    world.bob.receive();
  }
  CHECK_FALSE(world.node.waiters().has_more());
  CHECK(world.waits() == 0);
}

TEST_CASE("SUBSCRIBE to many names goes on in pieces, and each is confirmed at its end") {
  SlowNode world;
  constexpr int kPiece = kNamesOfPiece;
  constexpr int kNames = 2 * kPiece + 10;
  std::string names;
  for (int i = 0; i < kNames; ++i) names += fmt::format(" name{:05}", i);
  const auto kind = GENERATE(as<std::string>(), "", "p", "s");
  world.alice.send(kind + "subscribe" + names, world.now);
  CHECK(world.answers(world.alice) == kPiece);
  CHECK(world.ask(world.bob, "PING") == "+PONG");
  const std::string publish = kind == "s" ? "SPUBLISH" : "PUBLISH";

  SECTION("what is published meanwhile reaches who listens by then") {
    world.ask(world.bob, publish + " name00000 early");
    world.ask(world.bob, publish + fmt::format(" name{:05} late", kNames - 1));
    CHECK(world.alice.receive().find("early") != std::string::npos);
    CHECK(world.alice.receive() == "(none)");
    CHECK(world.turns() >= 2);
    CHECK(world.answers(world.alice) == kNames - kPiece);
  }
  SECTION("all are confirmed once, and counted") {
    world.turns();
    for (int i = kPiece; i < kNames; ++i) {
      CHECK(world.alice.receive() ==
            fmt::format("[\"{}subscribe\", \"name{:05}\", (integer) {}]", kind, i, i + 1));
    }
    CHECK(world.alice.receive() == "(none)");
    CHECK(world.node.wishes_of(world.alice.session()) == kNames);
  }
  SECTION("and so does the end of it, with names and without") {
    world.turns();
    world.answers(world.alice);
    const bool is_named = GENERATE(true, false);
    world.alice.send(kind + "unsubscribe" + (is_named ? names : ""), world.now);
    world.turn();
    CHECK(world.answers(world.alice) < kNames);
    world.turns();
    world.answers(world.alice);
    CHECK(world.node.wishes_of(world.alice.session()) == 0);
    CHECK(world.ask(world.alice, "PING") == "+PONG");
  }
  SECTION("its client may go in the middle") {
    world.node.close_session(world.alice.session().id());
    world.turns();
    CHECK(world.node.pubsub().bytes() == 0);
  }
}

TEST_CASE("of a SUBSCRIBE in pieces whose answer is dropped the confirmations are told") {
  SlowNode world;
  constexpr int kNames = 2 * kNamesOfPiece;
  std::string names;
  for (int i = 0; i < kNames; ++i) names += fmt::format(" name{}", i);
  world.ask(world.alice, "HELLO 3");
  world.alice.send("CLIENT REPLY SKIP", world.now);
  world.alice.send("SUBSCRIBE" + names, world.now);
  world.alice.send("PING", world.now);
  world.turns();
  CHECK(world.answers(world.alice) == kNames + 1);
}

TEST_CASE("patterns that take long with many names are refused") {
  SlowNode world;
  const auto with_patterns = [](std::string line, const std::string& pattern, int count) {
    for (int i = 0; i < count; ++i) line += " " + pattern;
    return line;
  };
  const std::string refusal = "-" + std::string(protocol::kPatternsTakeTooLong);
  CHECK(world.ask(world.alice, with_patterns("CONFIG GET", "x", 4000)) == refusal);
  CHECK(world.ask(world.alice, with_patterns("CONFIG GET", "x", 500)) == "[]");
  const std::string wide = "[" + std::string(60'000, 'x') + "]";
  CHECK(world.ask(world.alice, "CONFIG GET *" + wide) == refusal);
  CHECK(world.ask(world.alice, "COMMAND LIST FILTERBY PATTERN *" + wide) == refusal);
  CHECK(world.ask(world.alice, "COMMAND LIST FILTERBY PATTERN lock.w*") == "[\"lock.wait\"]");
  CHECK(world.ask(world.alice, "CONFIG GET max-ttl").find("max-ttl") != std::string::npos);
}
