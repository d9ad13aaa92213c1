// LOCK.*: the words of each command, which of them are refused, and what INFO counts.
#include "server/commands/families.h"
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

TEST_CASE("words that are refused change nothing, whatever they would have made") {
  const std::string key(65'536, 'k');
  const std::string value(600'000, 'v');
  const std::string label(129, 'l');
  const auto [line, why] = GENERATE_COPY(table<std::string, std::string>({
      {"LOCK.ACQUIRE " + key + " alice PX 1000", "a key of 65536 bytes"},
      {"LOCK.ACQUIRE lamp " + value + " PX 1000", "is too large: value-size-limit is"},
      {"LOCK.ACQUIRE lamp alice PX 1000 LABEL a b", "syntax error"},
      {"LOCK.ACQUIRE hall alice PX 1000", "[(integer) 0, (integer) "},  // a hash is held
      {"LOCK.EXTEND " + key + " alice PX 1000", "a key of 65536 bytes"},
      {"LOCK.EXTEND printer alice EX 20", "syntax error"},
      {"LOCK.EXTEND printer alice PX 0", "invalid expire time"},
      {"LOCK.EXTEND printer alice PX 65001", "max-ttl"},
      {"LOCK.EXTEND printer alice PX 20000 TOKEN x", "a token is a number"},
      {"LOCK.EXTEND printer alice PX 20000 TOKEN 7 LABEL", "syntax error"},
      {"LOCK.EXTEND lamp alice PX 1000 TOKEN 7 LABLE web3", "syntax error"},
      {"LOCK.EXTEND lamp alice PX 1000 TOKEN 7 LABEL " + label, "a label of 129 bytes"},
      {"LOCK.EXTEND lamp alice PX 1000 TOKEN 7 LABEL a b", "syntax error"},
      {"LOCK.EXTEND lamp " + value + " PX 1000 TOKEN 7", "is too large: value-size-limit is"},
      {"LOCK.EXTEND hall alice PX 1000 TOKEN 7", "WRONGTYPE"},
      {"LOCK.REPLACE " + key + " alice bob PX 1000", "a key of 65536 bytes"},
      {"LOCK.REPLACE printer alice bob PX 20000 SHORTER", "syntax error"},
      {"LOCK.CONFIRM printer alice x", "a token is a number"},
      {"LOCK.CONFIRM hall alice 7", "WRONGTYPE"},
      {"LOCK.RELEASE printer alice LAST", "syntax error"},
      {"LOCK.RELEASE printer alice FINAL UNDO", "syntax error"},
      {"LOCK.RELEASE hall alice", "WRONGTYPE"},
      {"LOCK.HOLDER printer VOTES", "syntax error"},
      {"LOCK.HOLDER printer VOTE VOTE", "syntax error"},
      {"LOCK.HOLDER hall", "WRONGTYPE"},
      {"LOCK.FENCE ADMIT x", "a token is a number from 0"},
      {"LOCK.FENCE ADMIT -1", "a token is a number from 0"},
  }));
  CAPTURE(line.substr(0, 80));
  NodeFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  node("HSET hall a b");
  const std::uint64_t counter = node.node().grants().fence().largest();
  CHECK_THAT(node(line), Contains(why));
  CHECK(node("LOCK.HOLDER printer") == "[\"alice\", (integer) 10000, (integer) 1]");
  CHECK(node("EXISTS lamp") == "(integer) 0");
  CHECK(node.node().grants().fence().largest() == counter);
}

TEST_CASE("a prefix may be of 16 bytes, and of a value of just these") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer 0123456789abcdef PX 10000");
  CHECK(node("LOCK.RELEASE printer 0123456789abcdef PREFIX") == "(integer) 1");
}

TEST_CASE("of a lock without a deadline -1 is told, as of its TTL (rule L3)") {
  Settings settings;
  settings.require_ttl = false;
  NodeFixture node(settings);
  node("SET printer alice");
  CHECK(node("LOCK.ACQUIRE printer bob PX 1000") == "[(integer) 0, (integer) -1]");
  CHECK(node("LOCK.HOLDER printer") == "[\"alice\", (integer) -1, (integer) 1]");
}

TEST_CASE("a node whose clock went wrong grants nothing, and lets go and tells as ever (rule C3)") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  node.node().grants().observe_clock(Instant(1s));
  CHECK_THAT(node("LOCK.ACQUIRE lamp alice PX 10000"), Contains("clock went back"));
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 10000"), Contains("clock went back"));
  CHECK(node("LOCK.CONFIRM printer alice 1") == "(integer) 1");
  CHECK(node("LOCK.HOLDER printer") == "[\"alice\", (integer) 10000, (integer) 1]");
  CHECK(node("LOCK.RELEASE printer alice") == "(integer) 1");
}

TEST_CASE("INFO counts each kind of answer by itself") {
  NodeFixture node;
  for (const char* line : {"LOCK.ACQUIRE printer alice PX 10000", "LOCK.ACQUIRE printer bob PX 100",
                           "LOCK.EXTEND printer alice PX 20000", "LOCK.EXTEND lamp a PX 1000",
                           "LOCK.EXTEND lamp a PX 1000 TOKEN 7", "HINCRBY hall a 1",
                           "LOCK.REPLACE printer alice carol PX 20000", "HINCRBY hall a 1",
                           "LOCK.RELEASE printer alice", "LOCK.RELEASE printer carol"}) {
    node(line);
  }
  CHECK_THAT(node("INFO locks"), Contains("held:2\\r") && Contains("granted:3\\r") &&
                                     Contains("refused_held:1\\r") && Contains("released:1\\r") &&
                                     Contains("extended:2\\r") && Contains("ttl_imposed:1\\r"));
}

// By them clients of a cluster and key patterns of ACL tell which locks a command is about.
TEST_CASE("the commands of coordinators tell how many words they take, and which are keys") {
  const auto told = [](Family family) {
    std::string all;
    for (const Command& command : family) {
      const auto& spec = command.spec;
      all += fmt::format("{} {}: {} {} {}\n", spec.name, spec.arity, spec.first_key, spec.last_key,
                         spec.key_step);
    }
    return all;
  };
  CHECK(told(quorum_commands()) ==
        "lock.acquire -5: 1 1 1\n"
        "lock.extend -5: 1 1 1\n"
        "lock.replace -6: 1 1 1\n"
        "lock.release -3: 1 1 1\n"
        "lock.confirm 4: 1 1 1\n"
        "lock.holder -2: 1 1 1\n"
        "lock.fence -2: 0 0 0\n"
        "lock.fence|read 2: 0 0 0\n"
        "lock.fence|admit -3: 0 0 0\n");
  CHECK(told(group_commands()) ==
        "lock.status 1: 0 0 0\n"
        "lock.group -2: 0 0 0\n"
        "lock.group|hello 3: 0 0 0\n"
        "lock.group|show 2: 0 0 0\n"
        "lock.group|prepare 4: 0 0 0\n"
        "lock.group|accept 4: 0 0 0\n"
        "lock.group|learn 5: 0 0 0\n");
}
