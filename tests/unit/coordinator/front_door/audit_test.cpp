// The audit of a front door: of commands that may run again and again, only what came of them.
#include "server/observe/audit.h"

#include "tests/support/door_world.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using Catch::Contains;

namespace {

DoorWorld::FrontDoor::Options audited() {
  DoorWorld::FrontDoor::Options options;
  options.settings.audit = server::kAuditInLog;
  return options;
}

// Two doors over five nodes; alice and mallory are at the first.
struct AuditedDoor : DoorWorld {
  AuditedDoor() : DoorWorld(5, 2, audited()) {
    mallory("CLIENT SETNAME mallory");
    told();
  }

  // The lines that were told since, from the event on.
  std::vector<std::string> told(unsigned door = 1) {
    std::vector<std::string> lines;
    for (const std::string& line : std::exchange(host(door).log.lines, {})) {
      const std::size_t at = line.find("event=");
      if (at != std::string::npos) lines.push_back(line.substr(at + 6));
    }
    return lines;
  }
  std::string broken(std::string_view command, std::string_view how, std::string_view value,
                     std::string_view outcome = "done", std::string_view label = R"("")") {
    return fmt::format(
        "lock-broken client=\"\" id={} name=mallory command={} how={} key=k holder={} label={} "
        "outcome={}",
        mallory.id(), command, how, server::Audit::value_hash(value), label, outcome);
  }

  DoorClient alice = connect();
  DoorClient mallory = connect();
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(AuditedDoor, "a door tells who broke whose lock") {
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  CHECK(mallory("SET k mine PX 30000") == "+OK");
  CHECK(told() == Lines{broken("set", "overwrites", "v")});
  CHECK(alice("SET k v PX 30000") == "+OK");
  told();
  CHECK(mallory("PEXPIRE k 100") == "(integer) 1");
  CHECK(told() == Lines{broken("pexpire", "shortens", "v")});
  CHECK(mallory("DEL k") == "(integer) 1");
  CHECK(told() == Lines{broken("del", "ends", "v")});
  CHECK(mallory("DEL k") == "(integer) 0");
  CHECK(told().empty());
}

TEST_CASE_METHOD(AuditedDoor, "a door tells of nothing that a holder does with its own lock") {
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  CHECK(alice("PEXPIRE k 20000") == "(integer) 1");
  CHECK(alice("DEL k") == "(integer) 1");
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  CHECK(mallory("EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return "
                "redis.call('del',KEYS[1]) else return 0 end\" 1 k v") == "(integer) 1");
  CHECK(alice("LOCK.ACQUIRE k v PX 30000").starts_with("[(integer) 1"));
  CHECK(mallory("LOCK.RELEASE k v") == "(integer) 1");
  CHECK(mallory("MULTI") == "+OK");
  CHECK(mallory("SET k mine NX PX 30000") == "+QUEUED");
  CHECK(mallory("DEL k") == "+QUEUED");
  CHECK(mallory("EXEC") == "[+OK, (integer) 1]");
  CHECK(told().empty());
}

TEST_CASE_METHOD(AuditedDoor, "a lock is in the name of who took it, by whichever commands") {
  CHECK(alice("SET j v NX PX 30000") == "+OK");
  CHECK(mallory("MULTI") == "+OK");
  CHECK(mallory("SET k mine NX PX 30000") == "+QUEUED");
  CHECK(mallory("EVAL \"return redis.call('del', KEYS[1])\" 1 j v") == "+QUEUED");
  CHECK(mallory("EXEC") == "[+OK, (integer) 1]");
  CHECK(mallory("DEL k") == "(integer) 1");
  CHECK(told().empty());
  CHECK(mallory("SET k mine NX PX 30000") == "+OK");
  CHECK(alice("SET k v IFEQ mine PX 30000") == "+OK");  // handed over
  CHECK(told().empty());
  CHECK(mallory("DEL k") == "(integer) 1");
  CHECK(told() == Lines{broken("del", "ends", "v")});
}

TEST_CASE_METHOD(AuditedDoor,
                 "a lock that was set again beside a new one is no less its holder's") {
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  CHECK(alice("MSET k v j v") == "+OK");
  CHECK(mallory("DEL k") == "(integer) 1");
  CHECK(told() == Lines{broken("del", "ends", "v")});
}

TEST_CASE_METHOD(AuditedDoor, "who hangs up is named all the same") {
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  const std::string line = broken("del", "ends", "v");
  mallory.send("DEL k");
  mallory.hang_up();
  nodes().pass(1s);
  CHECK(alice("GET k") == "(nil)");
  CHECK(told() == Lines{line});
  CHECK(door().node().who_of(mallory.id()).name.empty());  // nothing stays
}

TEST_CASE_METHOD(AuditedDoor,
                 "a door tells of scripts and transactions once, and if they are done") {
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  CHECK(mallory("WATCH k") == "+OK");
  CHECK(mallory("MULTI") == "+OK");
  CHECK(mallory("DEL k") == "+QUEUED");
  CHECK(alice("SET k w PX 30000") == "+OK");
  told();
  CHECK(mallory("EXEC") == "(nil)");
  CHECK(told().empty());
  CHECK(mallory("MULTI") == "+OK");
  CHECK(mallory("DEL k") == "+QUEUED");
  CHECK(mallory("EXEC") == "[(integer) 1]");
  CHECK(told() == Lines{broken("del", "ends", "w")});
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  CHECK(mallory("EVAL \"for i = 1, 3 do redis.call('pexpire', KEYS[1], 1000 - i) end\" 1 k") ==
        "(nil)");
  CHECK(told() == Lines{broken("pexpire", "shortens", "v")});
}

TEST_CASE_METHOD(AuditedDoor, "a lock of another door is another's, with the label that was read") {
  DoorClient bob = connect(2);
  CHECK(bob("LOCK.ACQUIRE k v PX 30000 LABEL bob@web1").starts_with("[(integer) 1"));
  CHECK(mallory("SET k mine PX 30000") == "+OK");
  CHECK(told() == Lines{broken("set", "overwrites", "v", "done", "bob@web1")});
  CHECK(told(2).empty());
}

TEST_CASE_METHOD(AuditedDoor, "what no quorum has told may have been done, and is told so") {
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  nodes().pass(100ms);
  for (const unsigned number : {1u, 2u, 3u}) nodes().hang(number);
  CHECK_THAT(mallory("DEL k"), Contains("NOQUORUM"));
  CHECK(told() == Lines{broken("del", "ends", "v", "unknown")});
}

TEST_CASE_METHOD(AuditedDoor, "what was not even asked for is not told") {
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  for (const unsigned number : {1u, 2u, 3u}) nodes().hang(number);
  CHECK(mallory("MULTI") == "+OK");
  CHECK(mallory("DEL k") == "+QUEUED");
  CHECK(mallory("SET j v NX PX 30000") == "+QUEUED");
  CHECK_THAT(mallory("EXEC"), Contains("NOQUORUM"));
  CHECK(told().empty());
}

TEST_CASE_METHOD(AuditedDoor, "a door tells of passwords, users and settings") {
  CHECK(alice("ACL SETUSER team on >secret ~* +@lock") == "+OK");
  CHECK_THAT(mallory("AUTH team wrong"), Contains("WRONGPASS"));
  CHECK(alice("CONFIG SET maxclients 77") == "+OK");
  const Lines lines = told();
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], Contains("acl-changed") && Contains("change=setuser of=team"));
  CHECK_THAT(lines[1], Contains("password-refused") && Contains("name=mallory"));
  CHECK_THAT(lines[2], Contains("setting-changed") && Contains("setting=maxclients value=77"));
}

TEST_CASE("a door without an audit tells of nothing") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient mallory = world.connect();
  CHECK(alice("SET k v NX PX 30000") == "+OK");
  world.host().log.lines.clear();
  CHECK(mallory("DEL k") == "(integer) 1");
  CHECK(world.host().log.lines.empty());
}
