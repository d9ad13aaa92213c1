// SCAN and its kin over many locks; DEBUG.
#include "base/random.h"
#include "tests/support/node_fixture.h"

#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

struct Page {
  std::string cursor;
  std::vector<std::string> keys;
};

// The pure node's own reply, so that keys are taken as they are.
Page scan(NodeFixture& node, TestClient& client, const std::string& cursor,
          const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"SCAN", cursor};
  words.insert(words.end(), options.begin(), options.end());
  client.send(words, node.now());
  const std::string bytes(client.session().output().view());
  client.session().output().clear();
  const auto parsed = protocol::parse_reply(bytes);
  REQUIRE(parsed.state == protocol::ParsedReply::State::complete);
  Page page{std::string(parsed.reply.items()[0].text()), {}};
  for (const auto& key : parsed.reply.items()[1].items()) page.keys.emplace_back(key.text());
  return page;
}

}  // namespace

TEST_CASE(
    "a lock that is there from the first SCAN to the last is told just once, whatever comes "
    "and goes") {
  const std::uint64_t seed = 6;
  INFO("seed " << seed);
  Random random(seed);
  NodeFixture node;
  TestClient client = node.connect();
  for (int i = 0; i < 3000; ++i) node(fmt::format("SET stays:{} v PX 60000", i));
  // Waves that split segments and let them be joined again.
  int born = 0;
  int gone = 0;
  std::map<std::string, int> told;
  std::string cursor = "0";
  do {
    const Page page = scan(node, client, cursor, {"COUNT", "20"});
    CHECK(page.keys.size() <= 40);
    for (const std::string& key : page.keys) ++told[key];
    cursor = page.cursor;
    const bool grows = told.size() / 700 % 2 == 0;
    for (int i = 0; i < 60; ++i) {
      if (grows) node(fmt::format("SET comes:{} v PX {}", born++, 1 + random.below(60'000)));
      if (!grows && gone < born) node(fmt::format("DEL comes:{}", gone++));
    }
  } while (cursor != "0");
  CHECK(born > 3000);
  CHECK(gone > 1000);
  for (int i = 0; i < 3000; ++i) CHECK(told[fmt::format("stays:{}", i)] == 1);
  for (const auto& [key, times] : told) {
    INFO(key);
    CHECK(times <= 1);
  }
}

TEST_CASE("COUNT says how many locks are looked at, MATCH which of them are told") {
  NodeFixture node;
  TestClient client = node.connect();
  for (int i = 0; i < 1000; ++i) node(fmt::format("SET key:{} v PX 60000", i));
  std::set<std::string> matched;
  std::string cursor = "0";
  int pages = 0;
  do {
    const Page page = scan(node, client, cursor, {"MATCH", "key:?7", "COUNT", "100"});
    matched.insert(page.keys.begin(), page.keys.end());
    cursor = page.cursor;
    ++pages;
  } while (cursor != "0");
  CHECK(matched == std::set<std::string>{"key:17", "key:27", "key:37", "key:47", "key:57", "key:67",
                                         "key:77", "key:87", "key:97"});
  CHECK(pages >= 9);
  CHECK(pages <= 11);
  CHECK(scan(node, client, "0", {"COUNT", "1000000"}).keys.size() == 1000);
}

TEST_CASE("locks that are over are neither told nor counted on") {
  NodeFixture node;
  TestClient client = node.connect();
  for (int i = 0; i < 100; ++i) node(fmt::format("SET key:{} v PX {}", i, i < 99 ? 100 : 200));
  node.advance(100ms);
  CHECK(node("KEYS *") == "[\"key:99\"]");
  CHECK(scan(node, client, "0", {"COUNT", "1000"}).keys == std::vector<std::string>{"key:99"});
  for (int i = 0; i < 20; ++i) CHECK(node("RANDOMKEY") == "\"key:99\"");
  node.advance(100ms);
  CHECK(node("RANDOMKEY") == "(nil)");
  CHECK(node("KEYS *") == "[]");
}

TEST_CASE("RANDOMKEY comes upon every key") {
  NodeFixture node;
  std::set<std::string> met;
  for (int i = 0; i < 30; ++i) node(fmt::format("SET key:{} v PX 60000", i));
  for (int i = 0; i < 2000; ++i) met.insert(node("RANDOMKEY"));
  CHECK(met.size() == 30);
}

TEST_CASE("FLUSHALL frees every lock and wakes who waits; the counters of tokens stay (rule F8)") {
  NodeFixture node;
  for (int i = 0; i < 1000; ++i) node(fmt::format("SET key:{} v PX 60000", i));
  const std::uint64_t largest = node.node().grants().fence().largest();
  TestClient bob = node.connect();
  bob.send("LOCK.WAIT key:7 1000", node.now());
  CHECK(node("FLUSHALL") == "+OK");
  CHECK(bob.receive() == "(integer) 1");
  CHECK(node("DBSIZE") == "(integer) 0");
  CHECK(node("KEYS *") == "[]");
  CHECK(node.node().stats().released == 1000);
  CHECK(node.node().grants().fence().largest() == largest);
  CHECK(node("SET key:7 w NX PX 1000") == "+OK");
  node.advance(1s);
  node.do_due_work();
  CHECK(node("EXISTS key:7") == "(integer) 0");
}

TEST_CASE("DEBUG is refused unless it is allowed, and to others on the network if it is local") {
  Settings settings;
  NodeFixture refused(settings);
  CHECK(refused("DEBUG SLEEP 0").find("-ERR DEBUG command not allowed.") == 0);
  settings.enable_debug_command = Settings::DebugCommand::local;
  settings.protected_mode = false;
  NodeFixture node(settings);
  CHECK(node("DEBUG SLEEP 0") == "+OK");
  protocol::Peer far;
  far.is_local = false;
  TestClient bob = node.connect(far);
  bob.send("DEBUG SLEEP 0", node.now());
  CHECK(bob.receive().find("-ERR DEBUG command not allowed.") == 0);
}

TEST_CASE("DEBUG SLEEP reads a number as C does, and sleeps for an hour at most") {
  Settings settings;
  settings.enable_debug_command = Settings::DebugCommand::yes;
  NodeFixture node(settings);
  const auto [word, slept] = GENERATE(table<const char*, Duration>({{"0.25", 250ms},
                                                                    {"2x", 2s},
                                                                    {"x", 0s},
                                                                    {"-1", 0s},
                                                                    {"nan", 0s},
                                                                    {"3600", 1h},
                                                                    {"1e300", 1h},
                                                                    {"inf", 1h}}));
  CAPTURE(word);
  CHECK(node(fmt::format("DEBUG SLEEP {}", word)) == "+OK");
  CHECK(node.slept == slept);
}
