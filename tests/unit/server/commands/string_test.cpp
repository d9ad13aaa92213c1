// The commands on texts and counters, and those that move deadlines. Their replies are compared
// with a real Redis by the transcripts; here stand the rules that are ours.
#include "tests/support/node_fixture.h"

#include <string>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

Settings without_required_ttl() {
  Settings settings;
  settings.require_ttl = false;
  return settings;
}

std::uint64_t token_of(NodeFixture& node, std::string_view key) {
  return node.node().locks().find(key, node.now().monotonic)->token();
}

bool begins_with(const std::string& text, std::string_view beginning) {
  return text.find(beginning) == 0;
}

}  // namespace

TEST_CASE("what would leave a key without a TTL is refused and says what to do (rule L2)") {
  NodeFixture node;
  CHECK(begins_with(node("GETSET k v"), "-ERR a lock needs a TTL: use SET k value PX 30000 GET"));
  CHECK(node("EXISTS k") == "(integer) 0");
  node("SET k v PX 1000");
  CHECK(begins_with(node("PERSIST k"), "-ERR a lock needs a TTL: k has one and keeps it"));
  CHECK(begins_with(node("GETEX k PERSIST"), "-ERR a lock needs a TTL: k has one"));
  CHECK(node("PTTL k") == "(integer) 1000");
  CHECK(node("PERSIST nosuch") == "(integer) 0");
  CHECK(node("GETEX nosuch PERSIST") == "(nil)");
}

TEST_CASE("where TTLs are not required they are taken away as Redis does (rule L3)") {
  NodeFixture node(without_required_ttl());
  node("SET k v PX 1000");
  CHECK(node("PERSIST k") == "(integer) 1");
  node.advance(24h);
  CHECK(node("GETSET k w") == "\"v\"");
  CHECK(node("TTL k") == "(integer) -1");
  CHECK(node("MSET a 1 b 2") == "+OK");
  CHECK(node("INCR n") == "(integer) 1");
  CHECK(node("TTL n") == "(integer) -1");
  CHECK(node.node().locks().without_deadline() == 4);
  CHECK(node.node().stats().ttl_imposed == 0);
}

TEST_CASE("a key that a command makes without a TTL gets max-ttl, and is counted (rule L2)") {
  NodeFixture node;
  CHECK(node("MSET a 1 b 2") == "+OK");
  CHECK(node("MSETNX c 3 d 4") == "(integer) 1");
  CHECK(node("INCR n") == "(integer) 1");
  CHECK(node("DECRBY m 5") == "(integer) -5");
  for (const std::string key : {"a", "b", "c", "d", "n", "m"}) {
    CHECK(node("PTTL " + key) == "(integer) 65000");
  }
  CHECK(node.node().stats().ttl_imposed == 6);
  CHECK(node("EVAL \"redis.call('INCR',KEYS[1]) return redis.call('PEXPIRE',KEYS[1],500)\" 1 o") ==
        "(integer) 1");
  CHECK(node("PTTL o") == "(integer) 500");
  CHECK(node.node().stats().ttl_imposed == 6);
}

TEST_CASE("MSET over a lock takes its TTL for max-ttl; MSETNX leaves all as it is") {
  NodeFixture node;
  node("SET a v PX 1000");
  CHECK(node("MSETNX fresh 1 a 2") == "(integer) 0");
  CHECK(node("EXISTS fresh") == "(integer) 0");
  CHECK(node("PTTL a") == "(integer) 1000");
  CHECK(node("MSET a w") == "+OK");
  CHECK(node("PTTL a") == "(integer) 65000");
}

TEST_CASE("a counter keeps its deadline, and each number of it is a grant (rule L4)") {
  NodeFixture node;
  node("SET n 1 PX 1000");
  const std::uint64_t first = token_of(node, "n");
  node.advance(400ms);
  CHECK(node("INCR n") == "(integer) 2");
  CHECK(node("PTTL n") == "(integer) 600");
  CHECK(token_of(node, "n") == first + 1);
  CHECK(node("INCRBY n 0") == "(integer) 2");  // the same value: its holder stays
  CHECK(token_of(node, "n") == first + 1);
  CHECK(node.node().stats().granted == 2);
  node.advance(600ms);
  CHECK(node("INCR n") == "(integer) 1");
}

TEST_CASE("GETEX extends a lock: the value and its token stay (rule L4)") {
  NodeFixture node;
  node("SET k v PX 1000");
  const std::uint64_t token = token_of(node, "k");
  CHECK(node("GETEX k PX 5000") == "\"v\"");
  CHECK(node("PTTL k") == "(integer) 5000");
  CHECK(token_of(node, "k") == token);
  CHECK(node.node().stats().extended == 1);
  CHECK(node("GETEX k EXAT 1700000009") == "\"v\"");
  CHECK(node("PTTL k") == "(integer) 9000");
  CHECK(node("GETEX k PXAT 1") == "\"v\"");  // long past: answered, and gone
  CHECK(node("EXISTS k") == "(integer) 0");
  CHECK(node.node().stats().released == 1);
}

TEST_CASE("max-ttl caps these commands too (rule L1)") {
  NodeFixture node;
  node("SET k v PX 1000");
  for (const char* line :
       {"SETEX k 66 v", "PSETEX k 65001 v", "GETEX k EX 66", "GETEX k PXAT 1700000065001",
        "EXPIREAT k 1700000066", "PEXPIREAT k 1700000065001", "PEXPIREAT k 9223372036854775807"}) {
    CAPTURE(line);
    CHECK(begins_with(node(line), "-ERR a TTL of "));
  }
  CHECK(node("PTTL k") == "(integer) 1000");
  CHECK(node("SETEX k 60 w") == "+OK");
  CHECK(node("PEXPIREAT k 1700000060000") == "(integer) 1");
}

TEST_CASE(
    "EXPIREAT's time becomes a monotonic deadline once; what it is told as follows the wall "
    "clock (rule C6)") {
  NodeFixture node;
  node("SET k v PX 1000");
  CHECK(node("PEXPIREAT k 1700000005500") == "(integer) 1");
  CHECK(node("PTTL k") == "(integer) 5500");
  CHECK(node("PEXPIRETIME k") == "(integer) 1700000005500");
  CHECK(node("EXPIRETIME k") == "(integer) 1700000006");
  node.now().wall += 1h;
  CHECK(node("PTTL k") == "(integer) 5500");
  CHECK(node("PEXPIRETIME k") == "(integer) 1700003605500");
}

TEST_CASE("a time that comes twice is the same deadline, though the clocks drift by microseconds") {
  NodeFixture node;
  node("SET k v PX 1000");
  CHECK(node("PEXPIREAT k 1700000005500") == "(integer) 1");
  node.advance(1s);
  node.now().wall -= 3us;
  CHECK(node("PEXPIRETIME k") == "(integer) 1700000005500");
  CHECK(node("PEXPIREAT k 1700000005500 GT") == "(integer) 0");
  CHECK(node("PEXPIREAT k 1700000005501 GT") == "(integer) 1");
  node.now().wall += 6us;
  CHECK(node("PEXPIREAT k 1700000005501 LT") == "(integer) 0");
  CHECK(node("PEXPIREAT k 1700000005500 LT") == "(integer) 1");
}

TEST_CASE("a recovering node grants and extends by none of these (rule R10)") {
  Settings settings;
  NodeFixture node(settings, recovering_for(5s));
  for (const char* line : {"SETEX k 1 v", "PSETEX k 1000 v", "MSET a 1", "MSETNX a 1", "INCR n",
                           "DECR n", "INCRBY n 1", "DECRBY n 1"}) {
    CAPTURE(line);
    CHECK(begins_with(node(line), "-ERR recovering after a restart, no new locks for 5000 ms"));
  }
  CHECK(node("GETDEL k") == "(nil)");
  CHECK(node("GETEX k PX 1000") == "(nil)");
  CHECK(node("MGET a b") == "[(nil), (nil)]");
  CHECK(node("DELIFEQ k v") == "(integer) 0");
  CHECK(node("DELEX k IFEQ v") == "(integer) 0");
  CHECK(node("UNLINK k") == "(integer) 0");
  CHECK(node("DBSIZE") == "(integer) 0");
}

TEST_CASE("restart-reply held answers MSETNX with 0, in a script too (rule R10)") {
  Settings settings;
  settings.restart_reply = RestartReply::held;
  NodeFixture node(settings, recovering_for(5s));
  CHECK(node("MSETNX a 1 b 2") == "(integer) 0");
  CHECK(begins_with(node("MSET a 1"), "-ERR recovering"));
  CHECK(node("EVAL \"return redis.call('MSETNX',KEYS[1],1)\" 1 a") == "(integer) 0");
}

TEST_CASE("a node whose clock went back grants by none of these (rule C3)") {
  NodeFixture node(without_required_ttl());
  node("SET k v");
  node("SET n 1");
  node.now().monotonic -= 1s;
  for (const char* line : {"GETSET k w", "GETEX k PX 1000", "EXPIREAT k 1700000010", "MSET k w",
                           "MSETNX a 1", "INCR n", "SETEX k 10 w"}) {
    CAPTURE(line);
    CHECK(begins_with(node(line), "-ERR this node's clock "));
  }
  CHECK(node("MGET k n") == "[\"v\", \"1\"]");
  CHECK(node("GETDEL k") == "\"v\"");
}

TEST_CASE("the native releases count as releases, and only for the value's holder") {
  NodeFixture node;
  node("SET k alice PX 1000");
  CHECK(node("DELIFEQ k bob") == "(integer) 0");
  CHECK(node("DELEX k IFEQ bob") == "(integer) 0");
  CHECK(node("DELEX k IFNE alice") == "(integer) 0");
  CHECK(node("DELIFEQ k alice") == "(integer) 1");
  CHECK(node("DELIFEQ k alice") == "(integer) 0");
  node("SET k alice PX 1000");
  CHECK(node("DELEX k IFEQ alice") == "(integer) 1");
  CHECK(node("DELEX k IFNE alice") == "(integer) 0");
  CHECK(node.node().stats().released == 2);
}

TEST_CASE("a condition on the value of a hash is the wrong question, and changes nothing") {
  NodeFixture node;
  constexpr const char* kWrongType =
      "-WRONGTYPE Operation against a key holding the wrong kind of value";
  CHECK(node("HSET h f v") == "(integer) 1");
  CHECK(node("SET h v IFEQ v PX 1000") == kWrongType);
  CHECK(node("SET h v IFNE v PX 1000") == kWrongType);
  CHECK(node("DELIFEQ h v") == kWrongType);
  CHECK(node("DELEX h IFNE v") == "-ERR Key should be of string type if conditions are specified");
  CHECK(node("HGET h f") == "\"v\"");
  CHECK(node("DELEX h") == "(integer) 1");
}

TEST_CASE("a release by a native form wakes who waits (rule Q7)") {
  NodeFixture node;
  node("SET k alice PX 1000");
  TestClient bob = node.connect();
  bob.send("LOCK.WAIT k 1000", node.now());
  CHECK(bob.receive() == "(none)");
  CHECK(node("DELIFEQ k alice") == "(integer) 1");
  CHECK(bob.receive() == "(integer) 1");
}

TEST_CASE("a key that no record can hold is refused by each command that would make it") {
  NodeFixture node(without_required_ttl());
  TestClient alice = node.connect();
  const std::string key(kKeyBytesMax + 1, 'k');
  const std::vector<std::vector<std::string>> requests = {{"GETSET", key, "v"},
                                                          {"SETEX", key, "1", "v"},
                                                          {"PSETEX", key, "1000", "v"},
                                                          {"MSET", "a", "1", key, "v"},
                                                          {"MSETNX", "a", "1", key, "v"},
                                                          {"INCR", key},
                                                          {"INCRBY", key, "1"},
                                                          {"DECR", key},
                                                          {"DECRBY", key, "1"}};
  for (const auto& request : requests) {
    CAPTURE(request[0]);
    alice.send(request, node.now());
    CHECK(alice.receive() == "-ERR a key of 65536 bytes is too long: at most 65535 are taken");
  }
  CHECK(node("DBSIZE") == "(integer) 0");
}

TEST_CASE("a value above value-size-limit is refused by each command that would store or send it") {
  NodeFixture node(without_required_ttl());
  TestClient alice = node.connect();
  const std::string most(64 * 1024, 'v');
  const std::string value = most + "v";
  const std::vector<std::vector<std::string>> requests = {
      {"SET", "k", value},
      {"SET", "k", value, "NX", "PX", "1000"},
      {"SETNX", "k", value},
      {"GETSET", "k", value},
      {"SETEX", "k", "1", value},
      {"PSETEX", "k", "1000", value},
      {"MSET", "a", "1", "k", value},
      {"MSETNX", "a", "1", "k", value},
      {"LOCK.ACQUIRE", "k", value, "PX", "1000"},
      {"LOCK.EXTEND", "k", value, "PX", "1000", "TOKEN", "7"},
      {"EVAL", "return redis.call('SET', KEYS[1], ARGV[1])", "1", "k", value}};
  for (const auto& request : requests) {
    CAPTURE(request[0]);
    alice.send(request, node.now());
    CHECK(alice.receive().find("ERR a value of 65537 bytes is too large: "
                               "value-size-limit is 65536") != std::string::npos);
  }
  CHECK(node("DBSIZE") == "(integer) 0");
  alice.send({"PUBLISH", "news", value}, node.now());
  CHECK(alice.receive().starts_with("-ERR a message of 65537 bytes"));
  alice.send({"PUBLISH", std::string(kKeyBytesMax + 1, 'c'), "hello"}, node.now());
  CHECK(alice.receive().starts_with("-ERR a channel of 65536 bytes"));
  alice.send({"SET", "k", most}, node.now());
  CHECK(alice.receive() == "+OK");
  CHECK(node("STRLEN k") == "(integer) 65536");
}

TEST_CASE("a value that came with a snapshot is whole, whatever the limit, and can be extended") {
  NodeFixture node;
  const std::string value(100'000, 'v');
  REQUIRE(node.node().grants().restore({"k", value, node.now().monotonic + 1s, 0}));
  CHECK(node("STRLEN k") == "(integer) 100000");
  TestClient alice = node.connect();
  alice.send({"LOCK.EXTEND", "k", value, "PX", "9000"}, node.now());
  CHECK(alice.receive() == "[(integer) 1, (integer) 0, (integer) 9000]");
}
