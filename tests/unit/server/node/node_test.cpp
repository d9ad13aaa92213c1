// The node as a whole: who may speak, what the table of commands answers, scripts that overrun.
#include "server/node/node.h"

#include "server/commands/families.h"
#include "tests/support/busy_fixture.h"

#include <optional>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

namespace {

constexpr const char* kEndless = "EVAL \"redis.call('INFO') while true do end\" 0";

struct Watch final : ScriptWatch {
  lua::Engine* watched = nullptr;
  void script_began(lua::Engine& engine) override { watched = &engine; }
  void script_ended() override { watched = nullptr; }
};

}  // namespace

TEST_CASE("while a script overruns, others are told BUSY and SCRIPT KILL ends it") {
  BusyFixture busy;
  CHECK(busy.ask(busy.bob, "SCRIPT KILL") == "-NOTBUSY No scripts in execution right now.");
  CHECK(busy.ask(busy.alice, kEndless) == "(none)");
  CHECK(busy.ask(busy.bob, "GET k").find("-BUSY Redis is busy running a script.") == 0);
  CHECK(busy.ask(busy.bob, "SHUTDOWN").find("-BUSY") == 0);
  busy.pass(1ms);
  CHECK(busy.ask(busy.alice, "PING") == "(none)");  // waits behind its own script
  CHECK(busy.ask(busy.bob, "SCRIPT KILL") == "+OK");
  CHECK(busy.alice.receive().find("-ERR Script killed by user with SCRIPT KILL") == 0);
  busy.pass(0ms);  // what it sent beyond has its turn behind others
  CHECK(busy.alice.receive() == "+PONG");
  CHECK(busy.ask(busy.bob, "GET k") == "(nil)");
}

TEST_CASE("two scripts that end while others are looked at are both answered") {
  BusyFixture busy;
  TestClient carol(busy.node, busy.now);
  TestClient dave(busy.node, busy.now);
  CHECK(busy.ask(busy.bob, "CLIENT PAUSE 100 ALL") == "+OK");
  busy.alice.send(kEndless, busy.now);
  busy.bob.send("SCRIPT KILL", busy.now);
  carol.send(kEndless, busy.now);
  dave.send("SCRIPT KILL", busy.now);
  for (int turn = 0; turn < 10; ++turn) busy.pass(100ms);
  CHECK(busy.alice.receive().find("-ERR Script killed by user") == 0);
  CHECK(busy.bob.receive() == "+OK");
  CHECK(carol.receive().find("-ERR Script killed by user") == 0);
  CHECK(dave.receive() == "+OK");
}

TEST_CASE(
    "a script that has written cannot be killed, ends at its time limit, and what it wrote stays") {
  BusyFixture busy;
  busy.ask(busy.alice,
           "EVAL \"redis.call('SET','k','v','PX',60000) redis.call('INFO') while true do end\" 0");
  CHECK(busy.ask(busy.bob, "SCRIPT KILL").find("-UNKILLABLE") == 0);
  busy.pass(5s);
  CHECK(busy.alice.receive().find("-ERR script stopped: it ran longer than script-time-limit") ==
        0);
  CHECK(busy.ask(busy.bob, "GET k") == "\"v\"");
}

TEST_CASE(
    "time stands still for a script that is suspended: its locks neither end nor are given back") {
  BusyFixture busy;
  busy.ask(busy.bob, "SET k v PX 100");
  busy.ask(busy.alice,
           "EVAL \"redis.call('INFO') for i=1,300000 do end return redis.call('GET','k')\" 0");
  for (int slice = 0; slice < 20; ++slice) busy.pass(20ms);
  CHECK(busy.alice.receive() == "\"v\"");
  CHECK(busy.ask(busy.bob, "GET k") == "(nil)");
}

TEST_CASE("a client that leaves while its script overruns does no harm") {
  BusyFixture busy;
  busy.ask(busy.alice, kEndless);
  busy.node.close_session(busy.alice.session().id());
  busy.pass(5s);
  CHECK(busy.ask(busy.bob, "GET k") == "(nil)");
}

TEST_CASE("a node that ends while a script is suspended is watched no longer") {
  Settings settings;
  CollectedLog log;
  Watch watch;
  std::optional<Node> node;
  const auto interrupt = [&] {
    watch.watched->interrupt();
    return ProcessFacts{};
  };
  node.emplace(all_families(), settings, NodeStart{}, Node::Environment{interrupt, log, &watch});
  node->begin_run({});
  TestClient client(*node, {});
  client.send(kEndless, {});
  while (!node->has_suspended()) node->do_due_work({});
  CHECK(watch.watched != nullptr);
  node.reset();
  CHECK(watch.watched == nullptr);
}

TEST_CASE("without the password only HELLO, AUTH, QUIT and RESET are heard") {
  Settings settings;
  settings.requirepass = "secret";
  NodeFixture node(settings);
  CHECK(node("GET k") == "-NOAUTH Authentication required.");
  CHECK(node("NOSUCH") == "-NOAUTH Authentication required.");
  CHECK(node("PING") == "-NOAUTH Authentication required.");
  CHECK(node("AUTH wrong") == "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(node("AUTH secret") == "+OK");
  CHECK(node("GET k") == "(nil)");
  CHECK(node("RESET") == "+RESET");
  CHECK(node("GET k") == "-NOAUTH Authentication required.");
}

TEST_CASE("in protected mode, without a password, strangers are told why and shown out") {
  NodeFixture node;
  protocol::Peer stranger;
  stranger.is_local = false;
  TestClient client = node.connect(stranger);
  CHECK(client.receive().find("-DENIED") == 0);
  CHECK(client.session().is_closing());
}

TEST_CASE("beyond maxclients a client is refused, and one that leaves makes room") {
  Settings settings;
  settings.maxclients = 2;
  NodeFixture node(settings);
  TestClient second = node.connect();
  TestClient third = node.connect();
  CHECK(third.receive() == "-ERR max number of clients reached");
  node.node().close_session(third.session().id());
  node.node().close_session(second.session().id());
  TestClient fourth = node.connect();
  CHECK(fourth.receive() == "(none)");
}

TEST_CASE("unknown commands and subcommands are told as Redis tells them") {
  NodeFixture node;
  CHECK(node("NOSUCH a b") == "-ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' ");
  CHECK(node("CLIENT NOSUCH") == "-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP.");
  CHECK(node("client|id") == "-ERR unknown command 'client|id', with args beginning with: ");
  CHECK(node("GET") == "-ERR wrong number of arguments for 'get' command");
  CHECK(node("CLIENT") == "-ERR wrong number of arguments for 'client' command");
  CHECK(node("CLIENT SETNAME") == "-ERR wrong number of arguments for 'client|setname' command");
  CHECK(node("CLUSTER INFO") == "-ERR This instance has cluster support disabled");
  CHECK(node("SENTINEL MASTERS").find("-ERR unknown command 'SENTINEL'") == 0);
}

TEST_CASE("the version that clients see stays below the one from which they send other commands") {
  NodeFixture node;
  CHECK(node("INFO server").find("redis_version:7.2.4") != std::string::npos);
  CHECK(node("HELLO 3").find("\"version\": \"7.2.4\"") != std::string::npos);
}

TEST_CASE("INFO counts a command's calls where tools look for them, and the time of those timed") {
  NodeFixture node;
  node.reading_takes = 40us;
  node("SET k v PX 1000");
  node("SET k");
  node("EVAL \"return redis.error_reply('ERR no')\" 0");
  const std::string info = node("INFO commandstats");
  CHECK_THAT(info, Contains("cmdstat_set:calls=1,usec=0,usec_per_call=0.00,rejected_calls=1,"
                            "failed_calls=0"));
  CHECK_THAT(info, Contains("cmdstat_eval:calls=1,usec=40,usec_per_call=40.00,rejected_calls=0,"
                            "failed_calls=1"));
}

TEST_CASE("INFO tells what clients, locks and the rest take of the memory") {
  NodeFixture node;
  const auto field = [](const std::string& info, const std::string& name) {
    return std::stoll(info.substr(info.find(name + ':') + name.size() + 1));
  };
  const std::string before = node("INFO memory");
  const long long used = field(before, "used_memory");
  CHECK(field(before, "used_memory_dataset") + field(before, "used_memory_overhead") == used);
  TestClient other = node.connect();
  const std::string after = node("INFO memory");
  const long long more = field(after, "mem_clients_normal") - field(before, "mem_clients_normal");
  CHECK(more >= static_cast<long long>(sizeof(protocol::Session)));
}

TEST_CASE("a script that is meant for a debugger is not run") {
  NodeFixture node;
  node("SCRIPT DEBUG YES");
  node("MULTI");
  node("EVAL \"return redis.call('set', 'k', 'v', 'PX', 1000)\" 0");
  CHECK(node("EXEC") == "[-ERR This node has no script debugger, the script was not run]");
  CHECK(node("EVAL \"return redis.call('set', 'k', 'v', 'PX', 1000)\" 0") == "[+<endsession>]");
  CHECK(node.node().locks().size() == 0);
}

TEST_CASE("expired locks are given back a budget at a time, and the node says when it has work") {
  NodeFixture node;
  for (int i = 0; i < 2000; ++i) node("SET k" + std::to_string(i) + " v PX 100");
  REQUIRE(node.node().next_work().has_value());
  node.advance(101ms);
  node.node().do_due_work(node.now());
  CHECK(node.node().locks().size() > 0);
  node.do_due_work();
  CHECK(node.node().locks().size() == 0);
  CHECK_FALSE(node.node().next_work().has_value());
}

TEST_CASE("a client that is silent for longer than timeout is closed") {
  Settings settings;
  settings.timeout = 10s;
  NodeFixture node(settings);
  TestClient idle = node.connect();
  node.advance(9s);
  CHECK(node("PING") == "+PONG");
  node.do_due_work();
  CHECK_FALSE(idle.session().is_closing());
  node.advance(2s);
  node.do_due_work();
  CHECK(idle.session().is_closing());
}

TEST_CASE("SHUTDOWN asks for a stop, and nothing executes after it (rule R9)") {
  NodeFixture node;
  CHECK(node("SHUTDOWN ABORT") == "-ERR No shutdown in progress.");
  CHECK(node("SHUTDOWN NOSAVE SAVE") == "-ERR syntax error");
  node("SHUTDOWN");
  REQUIRE(node.node().stop_request().has_value());
  CHECK(node.node().stop_request()->save);
  CHECK(node("SET k v PX 1000") == "(none)");
  CHECK(node.node().locks().size() == 0);
}

TEST_CASE(
    "errors are counted by their first word, and scripts cannot make the list grow without end") {
  NodeFixture node;
  node("GET");
  node("NOSUCH");
  CHECK(node("INFO errorstats").find("errorstat_ERR:count=2") != std::string::npos);
  for (int i = 0; i < 500; ++i) {
    node("EVAL \"return redis.error_reply(ARGV[1])\" 0 \"WORD" + std::to_string(i) + " text\"");
  }
  CHECK(node.node().stats().errors.size() == Stats::kErrorWordsMax);
  CHECK(node.node().stats().error_replies == 502);
}

TEST_CASE("before its run has begun a node answers what touches no lock and keeps the rest (R9)") {
  Settings settings;
  CollectedLog log;
  Node node(all_families(), settings, NodeStart{}, {[] { return ProcessFacts{}; }, log, nullptr});
  Now now{Instant(24h), WallTime(0s)};
  TestClient alice(node, now);
  TestClient bob(node, now);
  const auto ask = [&](TestClient& client, std::string_view line) {
    client.send(line, now);
    return client.receive();
  };
  for (const char* harmless : {"PING", "HELLO 2", "CLIENT ID", "INFO server", "COMMAND COUNT"}) {
    CHECK(ask(bob, harmless) != "(none)");
  }
  CHECK(ask(bob, "NO SUCH").find("-ERR unknown command") == 0);
  for (const char* line : {"GET k", "DEL k", "CONFIG SET max-ttl 1s", "SCRIPT FLUSH", "SHUTDOWN",
                           "EVAL \"return 1\" 0", "CONFIG GET port"}) {
    TestClient client(node, now);
    CHECK(ask(client, line) == "(none)");
    CHECK(client.session().is_postponed());
    node.close_session(client.session().id());
  }
  CHECK(ask(alice, "SET k v NX PX 1000") == "(none)");
  CHECK(ask(alice, "PTTL k") == "(none)");
  now.monotonic += 400ms;
  node.begin_run(now);
  CHECK(alice.receive() == "+OK");
  CHECK(alice.receive() == "(integer) 1000");  // its time counts from when it was executed (C4)
}

TEST_CASE(
    "of what any client can have logged there is a line a second, and how many more there were") {
  NodeFixture node;
  const auto speak_http = [&] {
    TestClient client = node.connect();
    client.send("POST / HTTP/1.1", node.now());
  };
  for (int i = 0; i < 5; ++i) speak_http();
  CHECK(node.log().lines ==
        std::vector<std::string>{"a client speaks HTTP: its connection is closed"});
  REQUIRE(node.node().next_work());
  CHECK(*node.node().next_work() <= node.now().monotonic + 1s);
  node.advance(1s);
  node.do_due_work();
  CHECK(node.log().lines.back() == "left out of the log: 4 of clients that speak HTTP");
  speak_http();
  CHECK(node.log().lines.size() == 2);
  for (int second = 0; second < 2; ++second) {
    node.advance(1s);
    node.do_due_work();
  }
  CHECK(node.log().lines.back() == "left out of the log: 1 of clients that speak HTTP");
  speak_http();
  CHECK(node.log().lines.size() == 4);
  CHECK_FALSE(node.node().next_work());
}

TEST_CASE("a script's lines pass as far as somebody can read them, and no level hides another") {
  NodeFixture node;
  const auto log = [&](const char* level, int times) {
    node(fmt::format("EVAL \"for i = 1, {} do redis.log(redis.LOG_{}, 'said') end\" 0", times,
                     level));
  };
  log("DEBUG", 1'000);
  CHECK(node.log().lines.size() == 20);
  log("WARNING", 3);
  CHECK(node.log().lines.size() == 23);
  node.advance(1s);
  node.do_due_work();
  CHECK(node.log().lines.back() == "left out of the log: 980 of scripts");
}
