// What clients together, and each alone, can make a node keep; and what INFO tells of it.
#include "protocol/resp/limits.h"
#include "server/observe/monitors.h"
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace redlock::server {
namespace {

using Catch::Contains;
using protocol::Session;

std::string ask(NodeFixture& node, TestClient& client, const std::vector<std::string>& words) {
  client.send(words, node.now());
  return client.receive();
}

protocol::Peer remote() {
  return {"10.0.0.7:4711", "10.0.0.1:6379", 9, true};
}

std::vector<std::string> repeated(std::vector<std::string> words, const std::string& word,
                                  std::size_t times) {
  words.insert(words.end(), times, word);
  return words;
}

long long field(const std::string& info, const std::string& name) {
  const std::size_t at = info.find(name + ':');
  REQUIRE(at != std::string::npos);
  return std::stoll(info.substr(at + name.size() + 1));
}

// Enough of them for a reply that is too large.
constexpr std::size_t kValueBytes = 60'000;
constexpr std::size_t kTooMany = protocol::kReplyMemoryMax / kValueBytes + 1;

}  // namespace

TEST_CASE("a reply that would be too large closes its client, and one line says so") {
  NodeFixture node;
  node("SET k " + std::string(kValueBytes, 'v') + " PX 10000");
  TestClient greedy = node.connect(remote());
  CHECK(ask(node, greedy, repeated({"MGET"}, "k", kTooMany)) == "(none)");
  CHECK(greedy.session().cut() == Session::Cut::reply_too_large);
  node.node().close_session(greedy.session().id());
  REQUIRE(node.log().lines.size() == 1);
  CHECK(node.log().lines[0] ==
        "closing 10.0.0.7:4711: the reply to its mget would take more than a client may be told "
        "at once");
  CHECK(node("PING") == "+PONG");
}

TEST_CASE("EXEC whose replies would be too large is done, and its client is closed") {
  NodeFixture node;
  node("SET k " + std::string(kValueBytes, 'v') + " PX 10000");
  TestClient greedy = node.connect();
  ask(node, greedy, {"MULTI"});
  for (std::size_t i = 0; i < kTooMany; ++i) ask(node, greedy, {"GET", "k"});
  ask(node, greedy, {"INCR", "n"});
  CHECK(ask(node, greedy, {"EXEC"}) == "(none)");
  CHECK(greedy.session().cut() == Session::Cut::reply_too_large);
  CHECK(node("GET n") == "\"1\"");
}

TEST_CASE("a script that calls for a reply that would be too large is told an error") {
  NodeFixture node;
  node("SET k " + std::string(kValueBytes, 'v') + " PX 10000");
  CHECK_THAT(node("EVAL \"local w = {} for i = 1, 1500 do w[i] = KEYS[1] end "
                  "return #redis.call('MGET', unpack(w))\" 1 k"),
             Contains("ERR the reply is too large"));
}

TEST_CASE("COMMAND INFO and DOCS are asked for no more names than there are commands") {
  NodeFixture node;
  const std::size_t commands = node.node().commands().specs().size();
  TestClient client = node.connect();
  for (const std::string what : {"INFO", "DOCS"}) {
    CHECK(ask(node, client, repeated({"COMMAND", what}, "get", commands))[0] != '-');
    CHECK_THAT(ask(node, client, repeated({"COMMAND", what}, "get", commands + 1)),
               Contains("names are more than there are commands"));
  }
}

// The client may be closed on the way.
void wait_for_long_keys(NodeFixture& node, TestClient& client, int count) {
  CHECK(ask(node, client, {"HELLO", "3"})[0] == '{');
  for (int i = 0; i < count; ++i) {
    const std::string key = std::string(32'768, 'k') + std::to_string(i);
    node("SET " + key + " v PX 10000");
    ask(node, client, {"LOCK.WAIT", key, "9000", "PUSH"});
  }
}

TEST_CASE("the client that takes most is closed when all take more than maxmemory-clients") {
  Settings settings;
  settings.maxmemory_clients = 1024 * 1024;
  NodeFixture node(settings);
  TestClient modest = node.connect();
  TestClient greedy = node.connect(remote());
  SECTION("by a request that is not complete") {
    node.node().receive(modest.session(), "*1\r\n$300000\r\n" + std::string(250'000, 'x'),
                        node.now());
    node.node().receive(greedy.session(), "*1\r\n$900000\r\n" + std::string(850'000, 'x'),
                        node.now());
  }
  SECTION("by a transaction") {
    ask(node, modest, {"MULTI"});
    ask(node, modest, {"ECHO", std::string(250'000, 'x')});
    ask(node, greedy, {"MULTI"});
    ask(node, greedy, {"ECHO", std::string(850'000, 'x')});
  }
  SECTION("by what it watches") {
    ask(node, modest, {"WATCH", std::string(250'000, 'x')});
    ask(node, greedy, {"WATCH", std::string(850'000, 'x')});
  }
  SECTION("by what it listens to") {
    ask(node, modest, {"SUBSCRIBE", std::string(250'000, 'x')});
    ask(node, greedy, {"SUBSCRIBE", std::string(850'000, 'x')});
  }
  SECTION("by what it waits for") {
    wait_for_long_keys(node, modest, 8);
    wait_for_long_keys(node, greedy, 26);
    CHECK(modest.session().kept_bytes > 250'000);
    node("FLUSHALL");
    CHECK(modest.session().kept_bytes == 0);
  }
  SECTION("by what it leaves unread") {
    node.node().note_unsent(modest.session(), 250'000);
    node.node().note_unsent(greedy.session(), 850'000);
  }
  CHECK(greedy.session().cut() == Session::Cut::took_most);
  CHECK_FALSE(modest.session().is_closing());
  node.node().close_session(greedy.session().id());
  REQUIRE(node.log().lines.size() == 1);
  CHECK_THAT(node.log().lines[0],
             Contains("closing 10.0.0.7:4711: it took ") && Contains("maxmemory-clients"));
  CHECK_THAT(node("INFO stats"), Contains("evicted_clients:1\\r"));
  CHECK(node.node().sessions().bytes() < 300'000);
}

TEST_CASE("with maxmemory-clients 0 clients may take what they like") {
  NodeFixture node;
  CHECK(node("CONFIG SET maxmemory-clients 0") == "+OK");
  TestClient greedy = node.connect();
  node.node().note_unsent(greedy.session(), std::size_t{1} << 40);
  CHECK_FALSE(greedy.session().is_closing());
  CHECK(node("CONFIG SET maxmemory-clients 1mb") == "+OK");
  node("PING");
  CHECK(greedy.session().cut() == Session::Cut::took_most);
}

TEST_CASE("those who were held back go on one a turn, in their order, as work that is due") {
  NodeFixture node;
  TestClient alice = node.connect();
  TestClient bob = node.connect();
  for (TestClient* client : {&alice, &bob}) {
    node.node().note_unsent(client->session(), protocol::kUnsentBytesMax);
    CHECK(ask(node, *client, {"PING"}) == "(none)");
    CHECK(client->session().is_held_back());
  }
  CHECK(node.node().next_work() != Instant{});
  node.node().note_unsent(alice.session(), 0);
  node.node().note_unsent(bob.session(), 0);
  CHECK(node.node().next_work() == Instant{});
  node.node().do_due_work(node.now());
  CHECK(alice.receive() == "+PONG");
  CHECK(bob.receive() == "(none)");
  node.node().do_due_work(node.now());
  CHECK(bob.receive() == "+PONG");
  CHECK(node.node().next_work() != Instant{});
}

TEST_CASE("one who still has no room is no work that is due") {
  NodeFixture node;
  TestClient greedy = node.connect();
  node.node().note_unsent(greedy.session(), protocol::kUnsentBytesMax);
  greedy.send("PING", node.now());
  REQUIRE(greedy.session().is_held_back());
  node.node().note_unsent(greedy.session(), protocol::kUnsentBytesMax);
  CHECK(node.node().next_work() != Instant{});
  node.node().note_unsent(greedy.session(), protocol::kUnsentBytesMax - 1);
  CHECK(node.node().next_work() == Instant{});
}

TEST_CASE("CLIENT LIST shows one that is to end, and none that was killed") {
  NodeFixture node;
  TestClient leaving = node.connect(remote());
  ask(node, leaving, {"QUIT"});
  CHECK_THAT(node("CLIENT LIST"), Contains("addr=10.0.0.7:4711") && Contains("flags=c"));
  CHECK(node("CLIENT KILL ADDR 10.0.0.7:4711") == "(integer) 1");
  CHECK(leaving.session().cut() == Session::Cut::killed);
  CHECK_THAT(node("CLIENT LIST"), !Contains("10.0.0.7:4711"));
  CHECK(node("CLIENT KILL ADDR 10.0.0.7:4711") == "(integer) 0");
}

TEST_CASE("a monitor is told the words of a command as far as a line goes") {
  NodeFixture node;
  TestClient watcher = node.connect();
  ask(node, watcher, {"MONITOR"});
  TestClient client = node.connect();
  ask(node, client, {"ECHO", std::string(kMonitorLineBytesMax - 4, 'x')});
  CHECK(watcher.receive().ends_with("xxx\""));
  ask(node, client, {"EXISTS", "k", std::string(kMonitorLineBytesMax, 'x'), "l"});
  CHECK_THAT(watcher.receive(), Contains("EXISTS") && Contains(" ... (2 more arguments)"));
  // Of many each is told less, as one command's lines are written at once.
  std::vector<TestClient> others;
  for (std::size_t i = 1; i < kMonitorLinesBytesMax / 1024; ++i) {
    others.push_back(node.connect());
    ask(node, others.back(), {"MONITOR"});
  }
  ask(node, client, {"ECHO", std::string(1024 - 4, 'x')});
  CHECK(watcher.receive().ends_with("xxx\""));
  ask(node, client, {"ECHO", std::string(1024, 'x')});
  CHECK_THAT(watcher.receive(), Contains("ECHO") && Contains(" ... (1 more arguments)"));
}

TEST_CASE("INFO tells commands and bytes a second, of the last second or two") {
  NodeFixture node;
  node("PING");
  for (int tenth = 0; tenth < 40; ++tenth) {
    for (int i = 0; i < 50; ++i) node("PING");
    node.advance(100ms);
  }
  const std::string busy = node("INFO stats");
  CHECK(field(busy, "instantaneous_ops_per_sec") >= 490);
  CHECK(field(busy, "instantaneous_ops_per_sec") <= 510);
  CHECK(field(busy, "instantaneous_input_kbps") == 6);  // 14 bytes each
  node.advance(60s);
  CHECK(field(node("INFO stats"), "instantaneous_ops_per_sec") <= 1);
  CHECK(node("CONFIG RESETSTAT") == "+OK");
  CHECK(field(node("INFO stats"), "instantaneous_ops_per_sec") == 0);
}

TEST_CASE("used_memory is what maxmemory is compared with, and its peak is remembered") {
  NodeFixture node;
  const long long before = field(node("INFO memory"), "used_memory");
  CHECK(before == static_cast<long long>(node.node().used_memory()));
  for (int i = 0; i < 100; ++i)
    node(fmt::format("SET k{} {} PX 1000", i, std::string(50'000, 'v')));
  const long long full = field(node("INFO memory"), "used_memory");
  CHECK(full > before + 5'000'000);
  node("FLUSHALL");
  const std::string after = node("INFO memory");
  CHECK(field(after, "used_memory") < full);
  CHECK(field(after, "used_memory_peak") >= full);
}

}  // namespace redlock::server
