// MONITOR, SLOWLOG, LATENCY: what others see of the commands that are executed.
#include "tests/support/busy_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

namespace {

// alice asks by node("…"); bob monitors.
struct MonitorFixture : NodeFixture {
  TestClient watcher = connect({"127.0.0.1:40002", "", 8, true});

  MonitorFixture() {
    watcher.send("MONITOR", now());
    REQUIRE(watcher.receive() == "+OK");
  }
  // What bob is shown next, without the time.
  std::string shown() {
    const std::string line = watcher.receive();
    const std::size_t from = line.find(" [");
    return from == std::string::npos ? line : line.substr(from + 1);
  }
  std::string bob(std::string_view line) {
    watcher.send(line, now());
    return watcher.receive();
  }
};

struct SlowFixture : NodeFixture {
  explicit SlowFixture(Duration takes) : SlowFixture() { reading_takes = takes; }
  SlowFixture() = default;
};

}  // namespace

TEST_CASE("a monitor is shown each command when it is done, its time and its client") {
  MonitorFixture node;
  node.now().wall = WallTime(1'700'000'000s + 42us);
  TestClient carol = node.connect({"10.0.0.7:40009", "", 9, true});
  carol.send(std::vector<std::string>{"set", "a \"b\"", "\x01\xff\n", "PX", "1000"}, node.now());
  CHECK(node.watcher.receive() ==
        "+1700000000.000042 [0 10.0.0.7:40009] \"set\" \"a \\\"b\\\"\" \"\\x01\\xff\\n\" \"PX\" "
        "\"1000\"");
}

TEST_CASE("a client at a socket in the file system is told by its path") {
  MonitorFixture node;
  TestClient carol = node.connect({"/run/node.sock:0", "", 9, true});
  carol.send("PING", node.now());
  CHECK(node.shown() == "[0 unix:/run/node.sock] \"PING\"");
}

TEST_CASE("a script is shown before its calls, a transaction behind its commands") {
  MonitorFixture node;
  node("EVAL \"return redis.call('get', KEYS[1])\" 1 k");
  CHECK_THAT(node.shown(), Contains("\"EVAL\""));
  CHECK(node.shown() == "[0 lua] \"get\" \"k\"");
  node("MULTI");
  node("GET k");
  node("EXEC");
  CHECK_THAT(node.shown(), Contains("\"MULTI\""));
  CHECK_THAT(node.shown(), Contains("\"GET\" \"k\""));
  CHECK_THAT(node.shown(), Contains("\"EXEC\""));
  CHECK(node.shown() == "(none)");
}

TEST_CASE("a monitor that saw MULTI sees the EXEC that was refused") {
  MonitorFixture node;
  node("MULTI");
  node("EXEC now");
  CHECK_THAT(node.shown(), Contains("\"MULTI\""));
  CHECK_THAT(node.shown(), Contains("\"EXEC\" \"now\""));
  CHECK(node.shown() == "(none)");
}

TEST_CASE("a monitor sees neither passwords nor operators' commands, nor what was refused") {
  MonitorFixture node;
  for (const std::string_view hidden : {"CONFIG GET save", "CLIENT LIST", "SLOWLOG LEN", "GET",
                                        "NOSUCH", "CONFIG SET requirepass secret"}) {
    node(hidden);
  }
  CHECK(node.shown() == "(none)");
  node("AUTH secret");
  CHECK_THAT(node.shown(), Contains("\"AUTH\" \"(redacted)\""));
  node("HELLO 3 AUTH default secret SETNAME n");
  CHECK_THAT(node.shown(), Contains("\"AUTH\" \"(redacted)\" \"(redacted)\" \"SETNAME\" \"n\""));
}

TEST_CASE("a monitor may ask what touches no key, and sees it behind the answer") {
  MonitorFixture node;
  CHECK(node.bob("PING") == "+PONG");
  CHECK(node.shown() == "[0 127.0.0.1:40002] \"PING\"");
  const std::string_view refused = GENERATE("GET k", "SET k v", "EVAL \"return 1\" 0", "DEL k");
  CHECK(node.bob(refused) == "-ERR Replica can't interact with the keyspace");
  CHECK(node.bob("MONITOR") == "(none)");
}

TEST_CASE("a monitor that says nothing for long stays, whatever timeout says") {
  MonitorFixture node;
  CHECK(node("CONFIG SET timeout 10s") == "+OK");
  TestClient idler = node.connect();
  node.advance(20s);
  node("PING");
  node.do_due_work();
  CHECK(idler.session().is_closing());
  CHECK_FALSE(node.watcher.session().is_closing());
}

TEST_CASE("a monitor that leaves more unread than the limit is closed, in the middle of a script") {
  MonitorFixture node;
  CHECK(node("CONFIG SET client-output-buffer-limit \"normal 1000 0 0\"") == "+OK");
  node("EVAL \"for i = 1, 1000 do redis.call('PING') end\" 0");
  CHECK(node.watcher.session().is_closing());
  CHECK(node.watcher.session().output().size() < 1100);
}

TEST_CASE("RESET ends a monitor, and so does its end") {
  MonitorFixture node;
  SECTION("RESET") {
    CHECK(node.bob("RESET") == "+RESET");
  }
  SECTION("the end") {
    node.node().close_session(node.watcher.session().id());
  }
  CHECK(node.node().observers().monitors().is_empty());
  CHECK(node("PING") == "+PONG");
}

// --- SLOWLOG

TEST_CASE("the slow log tells the commands whose time grows and that took long") {
  SlowFixture node(10ms);
  node("CLIENT SETNAME worker");
  node("SET k v PX 1000");
  node("EVAL \"return 1\" 0");
  CHECK_THAT(node("SLOWLOG GET"),
             Contains("[[(integer) 0, (integer) 1700000000, (integer) 10000, [\"EVAL\", \"return "
                      "1\", \"0\"], \"\", \"worker\"]]"));
  CHECK(node("SLOWLOG LEN") == "(integer) 2");  // SLOWLOG GET was as slow
  CHECK(node("SLOWLOG RESET") == "+OK");
  CHECK(node("SLOWLOG LEN") == "(integer) 0");
}

TEST_CASE("a command with more than kWordsUntimed words is timed, whatever it is") {
  SlowFixture node(10ms);
  std::string line = "DEL";
  for (std::size_t i = 1; i < kWordsUntimed; ++i) line += " k";
  node(line);
  CHECK(node("SLOWLOG LEN") == "(integer) 0");
  node(line + " k");
  CHECK(node("SLOWLOG LEN") == "(integer) 1");
}

TEST_CASE("what takes less than slowlog-log-slower-than is in no log") {
  SlowFixture node(9'999us);
  node("EVAL \"return 1\" 0");
  CHECK(node("SLOWLOG LEN") == "(integer) 0");
  CHECK(node("CONFIG SET slowlog-log-slower-than 9999") == "+OK");
  node("EVAL \"return 1\" 0");
  CHECK(node("SLOWLOG LEN") == "(integer) 1");
  CHECK(node("CONFIG SET slowlog-log-slower-than -1") == "+OK");
  node("EVAL \"return 1\" 0");
  CHECK(node("SLOWLOG LEN") == "(integer) 1");
}

TEST_CASE("below kTimesAllBelow every command is timed; EXEC is told by its commands") {
  SlowFixture node;
  node("CONFIG SET slowlog-log-slower-than 0");
  node("SLOWLOG RESET");
  node("MULTI");
  node("GET k");
  node("EXEC");
  node("EVAL \"return redis.call('get', 'k')\" 0");
  node("CONFIG SET slowlog-log-slower-than 10000");
  std::string commands = node("SLOWLOG GET -1");
  CHECK_THAT(commands, Contains("[\"get\", \"k\"], \"?:0\", \"\"]"));
  CHECK_THAT(commands, Contains("[\"GET\", \"k\"]") && Contains("[\"MULTI\"]"));
  CHECK_THAT(commands, !Contains("EXEC"));
  CHECK(node("SLOWLOG GET 0") == "[]");
}

TEST_CASE("a script that was suspended is timed to its end") {
  BusyFixture busy;
  busy.ask(busy.alice, "EVAL \"redis.call('INFO') while true do end\" 0");
  busy.stopwatch += 3s;
  CHECK(busy.ask(busy.bob, "SCRIPT KILL") == "+OK");
  CHECK_THAT(busy.ask(busy.bob, "SLOWLOG GET"), Contains("(integer) 3000000, [\"EVAL\""));
}

TEST_CASE(
    "a script begins where the one before it ended, but not where another command came first") {
  BusyFixture busy;
  busy.ask(busy.alice, "EVAL \"return 1\" 0");
  busy.stopwatch += 3s;
  busy.ask(busy.alice, "GET k");
  busy.ask(busy.alice, "EVAL \"return 2\" 0");
  CHECK(busy.ask(busy.alice, "SLOWLOG LEN") == "(integer) 0");
  busy.ask(busy.alice, "EVAL \"return 3\" 0");
  busy.stopwatch += 2s;
  busy.ask(busy.alice, "EVAL \"return 4\" 0");
  CHECK_THAT(busy.ask(busy.alice, "SLOWLOG GET"),
             Contains("(integer) 2000000, [\"EVAL\", \"return 4\""));
}

TEST_CASE("what Redis says to a SLOWLOG GET that cannot be read") {
  SlowFixture node;
  CHECK(node("SLOWLOG GET -2") == "-ERR count should be greater than or equal to -1");
  CHECK(node("SLOWLOG GET x") == "-ERR count should be greater than or equal to -1");
  CHECK(node("SLOWLOG GET 1 2") ==
        "-ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP.");
}

// --- LATENCY

TEST_CASE("latency events are those above the threshold, once there is one") {
  SlowFixture node(5ms);
  node("EVAL \"return 1\" 0");
  CHECK(node("LATENCY LATEST") == "[]");
  node("CONFIG SET latency-monitor-threshold 5");
  node("EVAL \"return 1\" 0");
  CHECK(node("LATENCY LATEST") ==
        "[[\"command\", (integer) 1700000000, (integer) 5, (integer) 5]]");
  CHECK(node("LATENCY HISTORY command") == "[[(integer) 1700000000, (integer) 5]]");
  CHECK(node("LATENCY HISTORY fast-command") == "[]");
  CHECK_THAT(node("LATENCY GRAPH command"), Contains("high 5 ms, low 5 ms"));
  CHECK_THAT(node("LATENCY DOCTOR"), Contains("1. command: 1 times"));
  CHECK(node("LATENCY RESET command nosuch") == "(integer) 1");
  CHECK(node("LATENCY GRAPH command") == "-ERR No samples available for event 'command'");
  CHECK(node("LATENCY RESET") == "(integer) 0");
}

TEST_CASE("LATENCY HISTOGRAM tells of the commands that were timed, while latency-tracking is on") {
  SlowFixture node(2us);
  node("EVAL \"return 1\" 0");
  node("EVAL \"return 1\" 0");
  node("CLIENT LIST");
  CHECK(node("LATENCY HISTOGRAM eval nosuch") ==
        "[\"eval\", [\"calls\", (integer) 2, \"histogram_usec\", [(integer) 2, (integer) 2]]]");
  CHECK_THAT(node("LATENCY HISTOGRAM client"), Contains("client|list"));
  node("CONFIG RESETSTAT");
  CHECK(node("LATENCY HISTOGRAM") == "[]");
  node("CONFIG SET latency-tracking no");
  node("EVAL \"return 1\" 0");
  CHECK(node("LATENCY HISTOGRAM") == "[]");
}
