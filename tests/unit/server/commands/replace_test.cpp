// LOCK.REPLACE: another value for the same holder (rule D9).
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

TEST_CASE("a lock gets another value where it holds exactly the old one (rule D9)") {
  NodeFixture node;
  CHECK(node("LOCK.REPLACE printer one two PX 10000") == "[(integer) 0]");
  CHECK(node("GET printer") == "(nil)");
  node("LOCK.ACQUIRE printer one PX 10000");
  CHECK(node("LOCK.REPLACE printer other two PX 10000") == "[(integer) 0, (integer) 10000]");
  CHECK(node("GET printer") == "\"one\"");
  CHECK(node("LOCK.REPLACE printer one two PX 20000") ==
        "[(integer) 1, (integer) 1, (integer) 20000]");
  CHECK(node("GET printer") == "\"two\"");
  CHECK(node("LOCK.REPLACE printer one three PX 20000") == "[(integer) 0, (integer) 20000]");
  CHECK(node("GET printer") == "\"two\"");
}

TEST_CASE("a replacement brings no deadline forward, unless it says so (rules Q4, D9)") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer one PX 10000");
  CHECK(node("lock.replace printer one two px 1") == "[(integer) 1, (integer) 1, (integer) 10000]");
  CHECK(node("PTTL printer") == "(integer) 10000");
  CHECK(node("LOCK.REPLACE printer two three PX 500 shorten") ==
        "[(integer) 1, (integer) 1, (integer) 500]");
  node.advance(500ms);
  CHECK(node("GET printer") == "(nil)");
}

TEST_CASE("token and label are those of the grant, and a grant after it has the next (D9, F2)") {
  NodeFixture node;
  const std::string value = GENERATE(as<std::string>(), "two", "one that is longer than that one");
  node("LOCK.ACQUIRE printer one PX 10000 LABEL web3:4711");
  node("LOCK.CONFIRM printer one 7");
  node.advance(3s);
  node("LOCK.REPLACE printer one \"" + value + "\" PX 10000");
  CHECK(node("LOCK.HOLDER printer") ==
        "[\"" + value + "\", (integer) 10000, (integer) 7, \"web3:4711\", (integer) 3000]");
  node("DEL printer");
  CHECK(node("LOCK.ACQUIRE printer another PX 100") == "[(integer) 1, (integer) 8, (integer) 100]");
}

TEST_CASE("a value that was released for good does not come back by a replacement (Q3, D9)") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer one PX 10000");
  node("LOCK.RELEASE printer two FINAL");
  CHECK(node("LOCK.REPLACE printer one two PX 10000") == "[(integer) 0, (integer) 10000]");
  CHECK(node("GET printer") == "\"one\"");
}

// As it lands, of a holder who was slow, when the lock of here is over.
TEST_CASE("a value that was replaced does not come back by a top-up (rules D8, D9)") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer one PX 10000");
  CHECK(node("LOCK.REPLACE printer other two PX 10000") == "[(integer) 0, (integer) 10000]");
  node("LOCK.REPLACE printer one two PX 10000");
  node.advance(10s);
  CHECK(node("LOCK.EXTEND printer one PX 20000 TOKEN 1") == "[(integer) 0]");
  CHECK(node("LOCK.EXTEND printer other PX 20000 TOKEN 1") ==
        "[(integer) 2, (integer) 1, (integer) 20000]");
  node("DEL printer");
  CHECK(node("LOCK.EXTEND printer two PX 20000 TOKEN 1") ==
        "[(integer) 2, (integer) 1, (integer) 20000]");
}

TEST_CASE("an undo of the grant leaves alone what has another value since (rules D5, D9)") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer one PX 10000");
  node("LOCK.REPLACE printer one two PX 10000");
  CHECK(node("LOCK.RELEASE printer one UNDO") == "(integer) 0");
  CHECK(node("LOCK.RELEASE printer two UNDO") == "(integer) 0");
  CHECK(node("GET printer") == "\"two\"");
}

TEST_CASE("a release by a prefix takes every value that begins with it (rule D9)") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer abcdefghijklmnop-1 PX 10000");
  node("LOCK.REPLACE printer abcdefghijklmnop-1 abcdefghijklmnop-2 PX 10000");
  CHECK(node("LOCK.RELEASE printer Abcdefghijklmnop PREFIX") == "(integer) 0");
  CHECK(node("LOCK.RELEASE printer abcdefghijklmnop-23 PREFIX") == "(integer) 0");
  CHECK_THAT(node("LOCK.RELEASE printer abcdefghijklmno PREFIX"),
             Contains("ERR a prefix of under 16 bytes"));
  CHECK(node("LOCK.RELEASE printer abcdefghijklmnop prefix") == "(integer) 1");
  CHECK(node("LOCK.RELEASE printer abcdefghijklmnop PREFIX") == "(integer) 0");
  CHECK(node("GET printer") == "(nil)");
  node("HSET hall a b");
  CHECK_THAT(node("LOCK.RELEASE hall abcdefghijklmnop PREFIX"), Contains("WRONGTYPE"));
}

TEST_CASE("who watches the key sees a replacement, and it is told as a SET is") {
  NodeFixture node;
  node("CONFIG SET notify-keyspace-events KEA");
  node("LOCK.ACQUIRE printer one PX 10000");
  auto listener = node.connect();
  listener.send("PSUBSCRIBE __keyspace*:printer", node.now());
  listener.receive();
  auto watcher = node.connect();
  watcher.send("WATCH printer", node.now());
  node("LOCK.REPLACE printer one two PX 10000");
  CHECK_THAT(listener.receive(), Contains("\"set\""));
  CHECK_THAT(listener.receive(), Contains("\"expire\""));
  watcher.send("MULTI", node.now());
  watcher.send("EXEC", node.now());
  CHECK(watcher.receive() == "+OK");
  CHECK(watcher.receive() == "+OK");
  CHECK(watcher.receive() == "(nil)");
}

TEST_CASE("what is no replacement says so, and changes nothing") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer one PX 10000");
  CHECK(node("LOCK.REPLACE printer one two PX 10000 LATER") == "-ERR syntax error");
  CHECK(node("LOCK.REPLACE printer one two PX 10000 SHORTEN x") == "-ERR syntax error");
  CHECK(node("LOCK.REPLACE printer one two EX 10") == "-ERR syntax error");
  CHECK_THAT(node("LOCK.REPLACE printer one two PX 0"), Contains("invalid expire time"));
  CHECK_THAT(node("LOCK.REPLACE printer one two PX 99999999"), Contains("max-ttl"));
  CHECK_THAT(node("LOCK.REPLACE printer one two"), Contains("wrong number of arguments"));
  CHECK_THAT(node("LOCK.REPLACE printer one " + std::string(600'000, 'x') + " PX 100"),
             Contains("is too large: value-size-limit is"));
  CHECK(node("GET printer") == "\"one\"");
  node("HSET hall a b");
  CHECK_THAT(node("LOCK.REPLACE hall one two PX 100"), Contains("WRONGTYPE"));
}

TEST_CASE("a recovering node replaces nothing, and it is no vote (rule R10)") {
  NodeStart start;
  start.grant_from = Instant(24h) + 10s;
  NodeFixture node({}, start);
  CHECK(node("LOCK.REPLACE printer one two PX 100") ==
        "-ERR recovering after a restart, no new locks for 10000 ms");
}
