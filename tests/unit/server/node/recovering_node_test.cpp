// A node in its restart delay: rule R10.
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr const char* kRefusal = "-ERR recovering after a restart, no new locks for 5000 ms";

}  // namespace

TEST_CASE(
    "a recovering node refuses whatever would create a key, also inside a script (rule R10)") {
  NodeFixture node({}, recovering_for(5s));
  CHECK(node("SET k v NX PX 1000") == kRefusal);
  CHECK(node("SET k v PX 1000") == kRefusal);
  CHECK(node("SETNX k v") == kRefusal);
  const std::string in_script =
      node("EVAL \"return redis.call('SET',KEYS[1],'v','NX','PX',1000)\" 1 k");
  CHECK(in_script.find(kRefusal) == 0);
  CHECK(node("EVAL \"redis.pcall('SET',KEYS[1],'v','NX','PX',1000) return 'went on'\" 1 k") ==
        "\"went on\"");
  CHECK(node("EXISTS k") == "(integer) 0");
}

TEST_CASE("a recovering node answers reads as an empty one, releases with 0, and is no LOADING") {
  NodeFixture node({}, recovering_for(5s));
  CHECK(node("GET k") == "(nil)");
  CHECK(node("PTTL k") == "(integer) -2");
  CHECK(node("DEL k") == "(integer) 0");
  CHECK(node("PEXPIRE k 1000") == "(integer) 0");
  CHECK(node("PING") == "+PONG");
  const std::string info = node("INFO");
  CHECK(info.find("loading:0") != std::string::npos);
  CHECK(info.find("state:recovering") != std::string::npos);
  CHECK(info.find("delay_left_ms:5000") != std::string::npos);
}

TEST_CASE("the delay counts down, is told rounded up, and ends to the nanosecond") {
  NodeFixture node({}, recovering_for(5s));
  node.advance(4s + 1ns);
  CHECK(node("SET k v NX PX 1000") == "-ERR recovering after a restart, no new locks for 1000 ms");
  node.advance(1s - 2ns);
  CHECK(node("SET k v NX PX 1000") == "-ERR recovering after a restart, no new locks for 1 ms");
  node.advance(1ns);
  CHECK(node("SET k v NX PX 1000") == "+OK");
}

TEST_CASE("restart-reply held answers a plain try as if another held the lock (rule R10)") {
  Settings settings;
  settings.restart_reply = RestartReply::held;
  NodeFixture node(settings, recovering_for(5s));
  CHECK(node("SET k v NX PX 1000") == "(nil)");
  CHECK(node("SETNX k v") == "(integer) 0");
  CHECK(node("SET k v NX GET PX 1000") == kRefusal);
  CHECK(node("SET k v PX 1000") == kRefusal);
}

TEST_CASE("restart-reply held is told to scripts, as false; what is no try is refused (rule R10)") {
  Settings settings;
  settings.restart_reply = RestartReply::held;
  NodeFixture node(settings, recovering_for(5s));
  const auto told = [&node](const std::string& command) {
    return node("EVAL \"return tostring(redis.call(" + command + "))\" 1 k");
  };
  CHECK(told("'SET',KEYS[1],'v','NX','PX',1000") == "\"false\"");
  CHECK(told("'SETNX',KEYS[1],'v'") == "\"0\"");
  CHECK(told("'MSETNX',KEYS[1],'v'") == "\"0\"");
  CHECK(told("'SET',KEYS[1],'v','PX',1000").find(kRefusal) == 0);
  // Redisson's: its nil says that the lock was got.
  CHECK(told("'HINCRBY',KEYS[1],'v',1").find(kRefusal) == 0);
  CHECK(node("EXISTS k") == "(integer) 0");
}

TEST_CASE("a known script that ends with nil if another holds the lock does so (rule R10)") {
  Settings settings;
  settings.restart_reply = GENERATE(RestartReply::held, RestartReply::error);
  const bool is_held = settings.restart_reply == RestartReply::held;
  NodeFixture node(settings, recovering_for(5s));
  // redlock-rb's acquire and its older form, Spring Integration's, bsm/redislock's, node-redlock's.
  const std::string ruby = node("EVALSHA ceb2b2062e40c51a2b3963fd078bc71f11bdc65c 1 k v 1000 yes");
  const std::string old = node("EVALSHA a90bf4be8a6e440e3cc24540eb2f9ff1e16fbcc3 1 k v 1000 yes");
  const std::string spring = node("EVALSHA 175897a4e379e99e79a54937be09226f76cdcfe5 1 k v 1000");
  const std::string bsm = node("EVALSHA 80a1b5f2cfccec3b7119ba7721d2127682b691a7 1 k v 1 1000");
  const std::string five = node("EVALSHA 96da70f7716f27d278a5218544df37fd8b0a5e4c 1 k v 1000");
  CHECK((is_held ? ruby == "(nil)" : ruby.find(kRefusal) == 0));
  CHECK((is_held ? old == "(nil)" : old.find(kRefusal) == 0));
  CHECK((is_held ? spring == "(nil)" : spring.find(kRefusal) == 0));
  CHECK((is_held ? bsm == "(nil)" : bsm.find(kRefusal) == 0));
  CHECK(five.find(kRefusal) == 0);
  CHECK(node("EXISTS k") == "(integer) 0");
}

TEST_CASE("no word of the refusal is one that clients react to by waiting or reconnecting") {
  NodeFixture node({}, recovering_for(5s));
  const std::string refusal = node("SET k v NX PX 1000");
  for (const char* word : {"-WAIT", "OOM", "NOSCRIPT", "NOAUTH", "READONLY", "LOADING",
                           "unknown command", "syntax error", "max number of clients"}) {
    CAPTURE(word);
    CHECK(refusal.find(word) == std::string::npos);
  }
}

TEST_CASE("a clock that goes back ends all granting until the node is restarted (rule C3)") {
  NodeFixture node;
  CHECK(node("SET k v PX 1000") == "+OK");
  node.advance(-1ns);
  CHECK(node("SET j v PX 1000").find("-ERR this node's clock went back") == 0);
  CHECK(node("PEXPIRE k 1000").find("-ERR this node's clock went back") == 0);
  node.advance(1h);
  CHECK(node("SET j v PX 1000").find("-ERR this node's clock went back") == 0);
  CHECK(node("INFO clock").find("clock_state:went back") != std::string::npos);
}

TEST_CASE("a clock that stands still for a million readings ends all granting (rule C3)") {
  NodeFixture node;
  node("SET k v PX 1000");
  for (std::uint32_t i = 0; i <= ClockWatch::kSameReadingsMax; ++i)
    node.node().do_due_work(node.now());
  CHECK(node("SET k v PX 1000").find("-ERR this node's clock stands still") == 0);
}

TEST_CASE(
    "within EXEC a plain try is answered as outside it, by nil or by the refusal (rule R10)") {
  Settings settings;
  settings.restart_reply = GENERATE(RestartReply::held, RestartReply::error);
  const bool is_held = settings.restart_reply == RestartReply::held;
  NodeFixture node(settings, recovering_for(5s));
  node("MULTI");
  node("SET k v NX PX 1000");
  node("GET k");
  CHECK(node("EXEC") == (is_held ? "[(nil), (nil)]" : std::string("[") + kRefusal + ", (nil)]"));
}
