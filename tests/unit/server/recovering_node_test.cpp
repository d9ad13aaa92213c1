// A node in its restart delay: rule R10.
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

NodeStart recovering_for(Duration delay) {
  NodeStart start;
  start.delay = delay;
  start.grant_from = Instant(24h) + delay;
  return start;
}

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

TEST_CASE("restart-reply held answers nil to a plain try, and never inside a script (rule R10)") {
  Settings settings;
  settings.restart_reply = RestartReply::held;
  NodeFixture node(settings, recovering_for(5s));
  CHECK(node("SET k v NX PX 1000") == "(nil)");
  CHECK(node("SETNX k v") == "(integer) 0");
  CHECK(node("SET k v NX GET PX 1000") == kRefusal);
  CHECK(node("SET k v PX 1000") == kRefusal);
  CHECK(node("EVAL \"return redis.call('SET',KEYS[1],'v','NX','PX',1000)\" 1 k").find(kRefusal) ==
        0);
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
