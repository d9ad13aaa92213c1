// The audit: what it tells of whom, what it leaves out, and what it never tells.
#include "server/observe/audit.h"

#include "lua/scripts/known_scripts.h"
#include "tests/support/busy_fixture.h"
#include "tests/support/node_fixture.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

namespace {

Settings audited(AuditFormat format = AuditFormat::text) {
  Settings settings;
  settings.audit = kAuditInLog;
  settings.audit_format = format;
  return settings;
}

// Alice asks by node("…"), mallory over a connection of his own.
struct AuditedNode : NodeFixture {
  explicit AuditedNode(Settings settings = audited()) : NodeFixture(std::move(settings)) {
    mallory.send("CLIENT SETNAME mallory", now());
    mallory.receive();
  }

  std::string by_mallory(std::string_view line) {
    mallory.send(line, now());
    return mallory.receive();
  }
  // The lines that were told since, each behind its time.
  std::vector<std::string> told() {
    std::vector<std::string> lines = std::move(log().lines);
    log().lines.clear();
    for (std::string& line : lines) line.erase(0, line.find("event=") + 6);
    return lines;
  }
  std::string only_line() {
    const std::vector<std::string> lines = told();
    REQUIRE(lines.size() == 1);
    return lines[0];
  }

  TestClient mallory = connect({"10.0.0.7:50312", "", 8, true});
};

constexpr std::string_view kBroken = "lock-broken client=10.0.0.7:50312 id=2 name=mallory ";

}  // namespace

TEST_CASE("the audit tells who broke whose lock, and not its value") {
  AuditedNode node;
  node("LOCK.ACQUIRE printer secret-value PX 30000 LABEL alice@web1");
  CHECK(node.by_mallory("DEL printer") == "(integer) 1");
  CHECK(node.only_line() ==
        fmt::format("{}command=del how=ends key=printer holder={} label=alice@web1", kBroken,
                    Audit::value_hash("secret-value")));
  // printf %s secret-value | sha1sum
  CHECK(Audit::value_hash("secret-value") == "dbdab9be92cacdae");
}

TEST_CASE("the audit tells of locks that are overwritten and shortened, too") {
  struct Row {
    std::string_view line;
    std::string_view how;  // empty: no lock is broken
  };
  constexpr Row kRows[] = {
      {"SET k mine PX 30000", "overwrites"},
      {"SETEX k 60 mine", "overwrites"},
      {"MSET k mine", "overwrites"},
      {"PEXPIRE k 10", "shortens"},
      {"GETEX k PX 10", "shortens"},
      {"PEXPIRE k 0", "ends"},
      {"UNLINK k", "ends"},
      {"GETDEL k", "ends"},
      {"SET k mine NX PX 30000", ""},
      {"PEXPIRE k 60000", ""},
      {"DELIFEQ k alices", ""},
      {"DELIFEQ k mine", ""},
      {"DEL other", ""},
      {"SET k alices PX 10", ""},  // who says the value knows it
  };
  for (const Row& row : kRows) {
    INFO(row.line);
    AuditedNode node;
    node("SET k alices NX PX 30000");
    node.by_mallory(row.line);
    if (row.how.empty()) {
      CHECK(node.told().empty());
    } else {
      CHECK_THAT(node.only_line(), Contains(fmt::format(" how={} key=k ", row.how)));
    }
  }
}

TEST_CASE("what a connection took, it may end as it likes") {
  AuditedNode node;
  node("SET k alices NX PX 30000");
  node("MSET a 1 b 2");
  node("HSET h alice 1");
  node("EVAL \"return redis.call('set', KEYS[1], 'x', 'NX', 'PX', 30000)\" 1 s");
  for (const std::string_view key : {"k", "a", "b", "h", "s"}) node(fmt::format("DEL {}", key));
  CHECK(node.told().empty());
  // It is another's once another has taken it.
  node("SET k alices NX PX 100");
  node.advance(100ms);
  node.by_mallory("SET k alices NX PX 30000");
  node("DEL k");
  CHECK_THAT(node.only_line(), Contains("lock-broken client=\"\" id=1 "));
}

TEST_CASE("who hangs up while his script runs is named all the same") {
  BusyFixture busy({}, nullptr, audited());
  busy.ask(busy.bob, "SET k v NX PX 60000");
  busy.ask(busy.alice, "CLIENT SETNAME alice");
  busy.ask(busy.alice,
           "EVAL \"redis.call('INFO') for i=1,300000 do end return redis.call('del','k')\" 0");
  REQUIRE(busy.node.has_suspended());
  busy.node.close_session(busy.alice.session().id());
  for (int slice = 0; slice < 20; ++slice) busy.pass(20ms);
  CHECK(busy.ask(busy.bob, "GET k") == "(nil)");
  CHECK_THAT(busy.log.lines.back(), Contains("id=1 name=alice command=del how=ends key=k "));
  busy.ask(busy.bob, "EVAL \"return redis.call('set', 'k', 'v', 'PX', 100)\" 0");
  CHECK(busy.node.who_of(1).name.empty());  // forgotten
}

TEST_CASE("of a script the audit names the client that runs it, and what it calls") {
  AuditedNode node;
  node("SET k alices NX PX 30000");
  const std::string del = "\"return redis.call('DEL', KEYS[1])\"";
  SECTION("one that nobody knows") {
    CHECK(node.by_mallory(fmt::format("EVAL {} 1 k", del)) == "(integer) 1");
    CHECK_THAT(node.only_line(), Contains(fmt::format("{}command=del how=ends", kBroken)));
  }
  SECTION("one that was loaded: whether it compares is not known") {
    node.by_mallory(fmt::format("SCRIPT LOAD {}", del));
    CHECK(node.by_mallory(fmt::format("EVAL {} 1 k", del)) == "(integer) 1");
    CHECK_THAT(node.only_line(), Contains(kBroken.data()));
  }
  SECTION("one that was given the value") {
    CHECK(node.by_mallory(fmt::format("EVAL {} 1 k alices", del)) == "(integer) 1");
    CHECK(node.told().empty());
  }
  SECTION("a lock library's, which compares") {
    const std::string release = fmt::format("EVALSHA {} 1 k", lua::known_scripts()[0].sha1);
    CHECK(node.by_mallory(release + " mine") == "(integer) 0");
    CHECK(node.by_mallory(release + " alices") == "(integer) 1");
    CHECK(node.told().empty());
  }
}

TEST_CASE("of FLUSHALL the audit tells how many locks it ended") {
  AuditedNode node;
  CHECK(node.by_mallory("FLUSHALL") == "+OK");
  CHECK(node.told().empty());
  for (const std::string_view key : {"a", "b", "c"}) node(fmt::format("SET {} v NX PX 9000", key));
  CHECK(node.by_mallory("FLUSHALL") == "+OK");
  CHECK(node.only_line() == fmt::format("{}command=flushall how=ends locks=3", kBroken));
}

TEST_CASE("the audit tells of wrong passwords, settings and the end, and of no secret") {
  Settings settings = audited();
  settings.requirepass = "open sesame";
  AuditedNode node(settings);
  node.told();
  CHECK_THAT(node("AUTH guess"), Contains("WRONGPASS"));
  CHECK_THAT(node("HELLO 3 AUTH default guess"), Contains("WRONGPASS"));
  std::vector<std::string> lines = node.told();
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](const std::string& line) { return line[0] != 'p'; }),
              lines.end());  // those of the log
  CHECK(lines == std::vector<std::string>{"password-refused client=\"\" id=1 command=auth",
                                          "password-refused client=\"\" id=1 command=hello"});
  node("AUTH \"open sesame\"");
  CHECK(node.told().empty());
  node("CONFIG SET maxclients 50 requirepass another");
  CHECK(node.told() ==
        std::vector<std::string>{
            "setting-changed client=\"\" id=1 setting=maxclients value=50",
            "setting-changed client=\"\" id=1 setting=requirepass value=\"(not shown)\""});
  CHECK_THAT(node("CONFIG SET maxclients many"), Contains("ERR"));
  CHECK(node.told().empty());
  node("SHUTDOWN");
  CHECK(node.only_line() == "shutdown client=\"\" id=1 mode=save");
}

TEST_CASE("the audit tells whose rights were changed, and of whom it tells which user he is") {
  AuditedNode node;
  CHECK(node("ACL SETUSER bob on >secret ~* +@all") == "+OK");
  std::string line = node.only_line();
  CHECK(line.starts_with("acl-changed "));
  CHECK(line.ends_with(" change=setuser of=bob"));
  CHECK(node("ACL SETUSER bob +nosuchcommand").starts_with("-ERR"));
  CHECK(node("SET printer alice NX PX 30000") == "+OK");
  CHECK(node.told().empty());
  CHECK(node.by_mallory("AUTH bob secret") == "+OK");
  CHECK(node.by_mallory("DEL printer") == "(integer) 1");
  CHECK_THAT(node.only_line(), Contains("lock-broken ") && Contains(" user=bob "));
  CHECK(node("ACL DELUSER bob nobody") == "(integer) 1");
  CHECK_THAT(node.only_line(), Contains(" change=deluser of=bob"));
}

TEST_CASE("no name makes a second line of the audit, or a field that it does not stand for") {
  AuditedNode node;
  const std::string key = R"("a\nevent=shutdown key=b\x1b[2J")";
  node(fmt::format("SET {} v NX PX 30000", key));
  node.by_mallory(fmt::format("DEL {}", key));
  CHECK_THAT(node.only_line(), Contains(fmt::format(" key={} ", key)));
  node(fmt::format("SET {} v NX PX 30000", std::string(60'000, 'k')));
  node.by_mallory(fmt::format("DEL {}", std::string(60'000, 'k')));
  CHECK_THAT(node.only_line(), Contains(fmt::format(" key={}... ", std::string(128, 'k'))));
}

TEST_CASE("in JSON a line is one object, whatever a name holds") {
  AuditedNode node(audited(AuditFormat::json));
  node("SET \"a\\\"b\\n\\xff\" v NX PX 30000");
  node.log().lines.clear();
  node.by_mallory("DEL \"a\\\"b\\n\\xff\"");
  REQUIRE(node.log().lines.size() == 1);
  CHECK(node.log().lines[0] ==
        fmt::format("{{\"time\":\"2023-11-14T22:13:20.000Z\",\"event\":\"lock-broken\","
                    "\"client\":\"10.0.0.7:50312\",\"id\":\"2\",\"name\":\"mallory\","
                    "\"command\":\"del\",\"how\":\"ends\",\"key\":\"a\\\"b\\\\x0a\\\\xff\","
                    "\"holder\":\"{}\",\"label\":\"\"}}",
                    Audit::value_hash("v")));
  node(fmt::format("SET {} v NX PX 30000", std::string(60'000, 'k')));
  node.log().lines.clear();
  node.by_mallory(fmt::format("DEL {}", std::string(60'000, 'k')));
  REQUIRE(node.log().lines.size() == 1);
  CHECK_THAT(node.log().lines[0],
             Contains(fmt::format("\"key\":\"{}...\"", std::string(128, 'k'))));
}

TEST_CASE("of a flood the audit tells fifty lines a second, and how many more there were") {
  AuditedNode node;
  constexpr std::size_t kBreaks = 300;
  for (std::size_t i = 0; i < kBreaks; ++i) {
    node(fmt::format("SET k{} v NX PX 60000", i));
    node.by_mallory(fmt::format("DEL k{}", i));
  }
  CHECK(node.told().size() == Audit::kLinesASecond);
  CHECK_THAT(node("CONFIG SET maxclients 50"), Contains("OK"));  // an event has its own
  CHECK_THAT(node.only_line(), Contains("setting-changed"));
  node.advance(1s);
  node.do_due_work();
  CHECK(node.only_line() == fmt::format("left-out lines={} of=lock-broken", kBreaks - 50));
  node("SET k v NX PX 60000");
  node.by_mallory("DEL k");
  CHECK_THAT(node.only_line(), Contains("lock-broken"));
}

TEST_CASE("a node without an audit asks nobody and tells nothing") {
  AuditedNode node{Settings()};
  CHECK_FALSE(node.node().breaks().are_watched());
  node("SET k v NX PX 60000");
  node.by_mallory("DEL k");
  node("CONFIG SET maxclients 50");
  node("SHUTDOWN");
  CHECK(node.log().lines.empty());
}

TEST_CASE("with hold-strict the audit tells what was refused") {
  Settings settings = audited();
  settings.hold_strict = true;
  AuditedNode node(settings);
  node("SET k v NX PX 60000");
  node("DEL k");  // also its own: nothing of it was done
  CHECK_THAT(node.only_line(), Contains("break-refused client=\"\" id=1 command=del how=ends"));
  node.by_mallory("FLUSHALL");
  CHECK_THAT(node.only_line(), Contains("break-refused") && Contains("locks=1"));
}

TEST_CASE("a taker is known until another lock takes its place") {
  Takers takers;
  CHECK_FALSE(takers.is_taken_by(7, 1, 3));
  takers.note(7, 1, 3);
  CHECK(takers.is_taken_by(7, 1, 3));
  CHECK_FALSE(takers.is_taken_by(7, 2, 3));  // a later lock of this key
  CHECK_FALSE(takers.is_taken_by(7, 1, 4));
  takers.note(7 + Takers::kTakesMax, 1, 5);
  CHECK_FALSE(takers.is_taken_by(7, 1, 3));
  CHECK_FALSE(takers.is_taken_by(7, 1, 5));
}
