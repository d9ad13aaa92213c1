// SET and its kin as a client sees them. The options' replies are compared with a real Redis by the
// transcripts; here stand the rules that are ours.
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

TEST_CASE("a lock is granted to the first caller and refused to the second") {
  NodeFixture node;
  CHECK(node("SET printer alice NX PX 10000") == "+OK");
  CHECK(node("SET printer bob NX PX 10000") == "(nil)");
  CHECK(node("GET printer") == "\"alice\"");
  node.advance(10s);
  CHECK(node("GET printer") == "(nil)");
  CHECK(node("SET printer bob NX PX 10000") == "+OK");
}

TEST_CASE("what is left is rounded up, so a holder never learns less than there is (rule C2)") {
  NodeFixture node;
  node("SET printer alice PX 10000");
  node.advance(1ns);
  CHECK(node("PTTL printer") == "(integer) 10000");
  CHECK(node("TTL printer") == "(integer) 10");
  node.advance(10s - 2ns);
  CHECK(node("PTTL printer") == "(integer) 1");
  node.advance(1ns);
  CHECK(node("PTTL printer") == "(integer) -2");
}

TEST_CASE("max-ttl caps every TTL that a command can set, and the error names it (rule L1)") {
  NodeFixture node;
  CHECK(node("SET k v PX 60000") == "+OK");
  for (const char* line :
       {"SET k v PX 65001", "SET k v EX 66", "PEXPIRE k 65001", "EXPIRE k 66",
        "SET k v PXAT 1700000065001", "SET k v EXAT 1700000066", "SET k v PX 9000000000000000"}) {
    CAPTURE(line);
    const std::string answer = node(line);
    CHECK(answer.find("-ERR a TTL of ") == 0);
    CHECK(answer.find("max-ttl (65000 ms)") != std::string::npos);
  }
  CHECK(node("PTTL k") == "(integer) 60000");
  CHECK_THAT(node("SET k v EX 3153600000"), Contains("or raise max-ttl"));
  CHECK_THAT(node("SET k v EX 3153600001"), !Contains("raise") && Contains("36500d"));
}

TEST_CASE("a refusal names the key so that every client can read it") {
  NodeFixture node;
  CHECK_THAT(node("SET printer v NX"), Contains("as in SET printer value"));
  CHECK_THAT(node("SET Drücker v NX"), Contains("as in SET Drücker value"));
  CHECK_THAT(node("SET 'my \"printer\"' v NX"), Contains(R"(as in SET "my \"printer\"" value)"));
  CHECK_THAT(node("SET '' v NX"), Contains(R"(as in SET "" value)"));
  CHECK_THAT(node("SET \"\\xff\\xfe\" v NX"), Contains("as in SET key value"));
  CHECK_THAT(node("SET \"a\\x1b[2J\" v NX"), Contains("as in SET key value"));
}

TEST_CASE("a SET that would leave a key without a TTL is refused and says what to add (rule L2)") {
  NodeFixture node;
  const std::string refusal = node("SET k v NX");
  CHECK(refusal.find("-ERR a lock needs a TTL: add PX") == 0);
  CHECK(refusal.find("require-ttl") != std::string::npos);
  CHECK(node("SET k v KEEPTTL").find("-ERR a lock needs a TTL") == 0);
  CHECK(node("SET k v PX 1000") == "+OK");
  CHECK(node("SET k w KEEPTTL") == "+OK");  // keeps one: fine
  CHECK(node("SET k v NX") == "(nil)");     // would set nothing: held is the answer
  CHECK(node("PTTL k") == "(integer) 1000");
}

TEST_CASE("SETNX gets max-ttl, counted unless a TTL follows in the same script (rule L2)") {
  NodeFixture node;
  CHECK(node("SETNX k v") == "(integer) 1");
  CHECK(node("PTTL k") == "(integer) 65000");
  CHECK(node.node().stats().ttl_imposed == 1);
  CHECK(node("EVAL \"redis.call('SETNX',KEYS[1],'v') redis.call('PEXPIRE',KEYS[1],500) return 1\" "
             "1 j") == "(integer) 1");
  CHECK(node("PTTL j") == "(integer) 500");
  CHECK(node.node().stats().ttl_imposed == 1);
  CHECK(node("EVAL \"return redis.call('SETNX',KEYS[1],'v')\" 1 i") == "(integer) 1");
  CHECK(node.node().stats().ttl_imposed == 2);
}

TEST_CASE("with require-ttl no a key may stay for ever, and is counted (rule L3)") {
  Settings settings;
  settings.require_ttl = false;
  NodeFixture node(settings);
  CHECK(node("SET k v") == "+OK");
  CHECK(node("SETNX j v") == "(integer) 1");
  CHECK(node("TTL k") == "(integer) -1");
  CHECK(node.node().locks().without_deadline() == 2);
  CHECK(node.node().stats().max_ttl_granted == 0ns);
}

TEST_CASE("another value is a grant, the same value with a new deadline an extension (rule L4)") {
  NodeFixture node;
  node("SET k alice PX 1000");
  node("SET k alice PX 2000");
  node("PEXPIRE k 3000");
  node("SET k bob PX 1000");
  CHECK(node.node().stats().granted == 2);
  CHECK(node.node().stats().extended == 2);
  CHECK(node.node().stats().max_ttl_granted == 3s);
}

TEST_CASE(
    "PXAT becomes a remaining time once, on receipt; the wall clock is then forgotten (rule C6)") {
  NodeFixture node;
  CHECK(node("SET k v PXAT 1700000010000") == "+OK");
  CHECK(node("PTTL k") == "(integer) 10000");
  node.now().wall += 1h;
  CHECK(node("PTTL k") == "(integer) 10000");
  CHECK(node("SET j v PXAT 1700000010000") == "+OK");  // long past by that clock: over at once
  CHECK(node("EXISTS j") == "(integer) 0");
}

TEST_CASE("IFEQ sets only over the value that it names") {
  NodeFixture node;
  CHECK(node("SET k new IFEQ old PX 1000") == "(nil)");
  node("SET k old PX 1000");
  CHECK(node("SET k new IFEQ other PX 1000") == "(nil)");
  CHECK(node("SET k new IFEQ old GET PX 1000") == "\"old\"");
  CHECK(node("SET k newer IFEQ old GET PX 1000") == "\"new\"");
  CHECK(node("GET k") == "\"new\"");
  CHECK(node("SET k v NX IFEQ old PX 1000") == "-ERR syntax error");
  CHECK(node("SET k v IFEQ old XX PX 1000") == "-ERR syntax error");
}

TEST_CASE("a key longer than a record can name is refused, and the longest that fits is not") {
  NodeFixture node;
  CHECK(node("SET " + std::string(65'535, 'k') + " v PX 1000") == "+OK");
  CHECK(node("SET " + std::string(65'536, 'k') + " v PX 1000").find("-ERR a key of 65536 bytes") ==
        0);
  CHECK(node("GET " + std::string(65'536, 'k')) == "(nil)");
}

TEST_CASE("above maxmemory nothing new is taken, and releases still work") {
  Settings settings;
  settings.maxmemory = 1;
  NodeFixture node(settings);
  CHECK(node("SET k v PX 1000") == "-OOM command not allowed when used memory > 'maxmemory'.");
  CHECK(node("DEL k") == "(integer) 0");
}
