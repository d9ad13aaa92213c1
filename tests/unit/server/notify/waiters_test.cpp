// The lines of those who wait: who is called, and who after that (rule Q7).
#include "tests/support/node_fixture.h"

#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr Duration kNextAfter = 10ms;  // wake-next-after

// A holder has the printer for a minute. The others are clients by name, each with one connection.
struct Line {
  NodeFixture node;
  std::map<std::string, TestClient> clients;

  Line() { hold(); }
  void hold() { REQUIRE(node("SET printer holder NX PX 60000") == "+OK"); }
  void free() { REQUIRE(node("DEL printer") == "(integer) 1"); }

  TestClient& client(const std::string& name) {
    auto known = clients.find(name);
    if (known != clients.end()) return known->second;
    TestClient& made = clients.emplace(name, node.connect()).first->second;
    made.send("HELLO 3", node.now());
    REQUIRE(made.receive().starts_with("{"));
    return made;
  }
  std::string ask(const std::string& name, std::string_view line) {
    client(name).send(line, node.now());
    return client(name).receive();
  }
  void wait(const std::string& name, std::string_view ticket) {
    REQUIRE(ask(name, fmt::format("LOCK.WAIT printer 50000 PUSH AT {}", ticket)) == "+OK");
  }
  bool take(const std::string& name) {
    return ask(name, fmt::format("SET printer {} NX PX 60000", name)) == "+OK";
  }
  void give(const std::string& name) { REQUIRE(ask(name, "DEL printer") == "(integer) 1"); }
  void leave(const std::string& name) {
    node.node().close_session(client(name).session().id());
    clients.erase(name);
    node.do_due_work();
  }
  void pass(Duration d) {
    node.advance(d);
    node.do_due_work();
  }
  // Who has been told that the printer is free, since the last look.
  std::string called() {
    std::string names;
    for (auto& [name, client] : clients) {
      if (client.receive() != R"(>["lock.free", "printer", (integer) 1])") continue;
      names += (names.empty() ? "" : " ") + name;
    }
    return names;
  }
};

}  // namespace

TEST_CASE("the smallest ticket is called, whoever came first, and the next when it has taken it") {
  Line line;
  line.wait("carol", "3-0");
  line.wait("bob", "2-0");
  line.wait("alice", "1-0");
  line.free();
  CHECK(line.called() == "alice");
  CHECK(line.take("alice"));
  line.pass(kNextAfter * 3);
  CHECK(line.called().empty());
  line.give("alice");
  CHECK(line.called() == "bob");
  CHECK(line.take("bob"));
  line.give("bob");  // within its time, at once
  CHECK(line.called() == "carol");
}

TEST_CASE("the next is called when the one before it lets its time pass, and no earlier") {
  Line line;
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.wait("carol", "3-0");
  line.free();
  CHECK(line.called() == "alice");
  CHECK(line.node.node().next_work() <= line.node.now().monotonic + kNextAfter);
  line.pass(kNextAfter - 1ms);
  CHECK(line.called().empty());
  line.pass(1ms);
  CHECK(line.called() == "bob");
  line.pass(kNextAfter);
  CHECK(line.called() == "carol");
}

TEST_CASE("whoever is called and goes away, cancels or resets passes its call on at once") {
  const std::string how = GENERATE("leave", "LOCK.WAIT printer 0 PUSH", "RESET");
  CAPTURE(how);
  Line line;
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.free();
  CHECK(line.called() == "alice");
  if (how == "leave") {
    line.leave("alice");
  } else {
    line.ask("alice", how);
  }
  CHECK(line.called() == "bob");
}

TEST_CASE("of who was not called yet none is called when another goes away") {
  Line line;
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.wait("carol", "3-0");
  line.free();
  CHECK(line.called() == "alice");
  line.leave("bob");
  CHECK(line.called().empty());
  line.pass(kNextAfter);
  CHECK(line.called() == "carol");
}

TEST_CASE("within the time of who is called nobody else is, whatever takes the key meanwhile") {
  Line line;
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.free();
  CHECK(line.called() == "alice");
  CHECK(line.take("mallory"));
  line.pass(1ms);
  line.give("mallory");
  CHECK(line.called().empty());
  line.pass(kNextAfter - 1ms);
  CHECK(line.called() == "bob");
}

TEST_CASE("whoever tried in vain and waits anew with its ticket is first again") {
  Line line;
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.free();
  CHECK(line.called() == "alice");
  CHECK(line.take("mallory"));
  CHECK_FALSE(line.take("alice"));
  line.wait("alice", "1-0");
  line.give("mallory");
  CHECK(line.called() == "alice");
  CHECK(line.take("alice"));
}

TEST_CASE("an attempt that is undone and a new wait, read at once, call nobody else") {
  Line line;
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.free();
  CHECK(line.called() == "alice");
  CHECK(line.take("alice"));
  protocol::OutputBuffer bytes;  // a coordinator writes both together
  for (const auto& words : {std::vector<std::string_view>{"DEL", "printer"},
                            {"LOCK.WAIT", "printer", "50000", "PUSH", "AT", "1-0"}}) {
    protocol::write_request(words, bytes);
  }
  line.node.node().receive(line.client("alice").session(), bytes.view(), line.node.now());
  CHECK(line.client("alice").receive() == "(integer) 1");
  CHECK(line.client("alice").receive() == "+OK");
  CHECK(line.called() == "alice");
  line.pass(kNextAfter);  // its time counts from then on
  CHECK(line.called() == "bob");
}

TEST_CASE("the called one that asks again while its time lasts is told again, and has no longer") {
  Line line;
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.free();
  CHECK(line.called() == "alice");
  line.pass(kNextAfter - 1ms);
  line.wait("alice", "1-0");
  CHECK(line.called() == "alice");
  line.pass(1ms);
  CHECK(line.called() == "bob");
}

TEST_CASE("a newcomer that finds the key free while another is called stands in the line") {
  Line line;
  line.wait("alice", "2-0");
  line.wait("bob", "4-0");
  line.free();
  CHECK(line.called() == "alice");
  line.wait("zoe", "1-0");
  line.wait("carol", "3-0");
  CHECK(line.called().empty());
  line.pass(kNextAfter);
  CHECK(line.called() == "zoe");
  line.pass(kNextAfter);
  CHECK(line.called() == "carol");
}

TEST_CASE("a lock that runs out calls one, as a release does") {
  Line line;
  line.wait("bob", "2-0");
  line.wait("alice", "1-0");
  line.pass(60s - 1ms);
  CHECK(line.called().empty());
  line.wait("bob", "2-0");  // the first waits were over after 50 s
  line.wait("alice", "1-0");
  line.pass(2ms);
  CHECK(line.called() == "alice");
  line.pass(kNextAfter);
  CHECK(line.called() == "bob");
}

TEST_CASE("who brings no ticket waits since it came") {
  Line line;  // it is 1'700'000'000'000 ms
  REQUIRE(line.ask("bob", "LOCK.WAIT printer 50000 PUSH") == "+OK");
  line.wait("alice", "1699999999999-0");
  line.wait("carol", "1700000000001-0");
  line.free();
  CHECK(line.called() == "alice");
  line.pass(kNextAfter);
  CHECK(line.called() == "bob");
  line.pass(kNextAfter);
  CHECK(line.called() == "carol");
}

TEST_CASE("wake-next-after is a setting that can be changed in use") {
  Line line;
  CHECK(line.node("CONFIG SET wake-next-after 250ms") == "+OK");
  line.wait("alice", "1-0");
  line.wait("bob", "2-0");
  line.free();
  line.called();
  line.pass(249ms);
  CHECK(line.called().empty());
  line.pass(1ms);
  CHECK(line.called() == "bob");
}

TEST_CASE("one that is stopped costs the line one such time, and no more") {
  Line line;
  line.wait("stopped", "1-0");
  line.wait("alice", "2-0");
  line.wait("bob", "3-0");
  line.free();
  CHECK(line.called() == "stopped");
  line.pass(kNextAfter);
  CHECK(line.called() == "alice");
  CHECK(line.take("alice"));
  line.give("alice");
  CHECK(line.called() == "bob");
}

// Each of ten liars waits with a ticket of the year 1970, never takes anything, and asks again for
// as long as the key is free: at once, or when its time is over.
TEST_CASE("forged tickets, again and again, hold nobody up for longer than some calls") {
  const bool at_once = GENERATE(true, false);
  CAPTURE(at_once);
  Line line;
  constexpr std::size_t kHonest = 5;
  for (int i = 0; i < 10; ++i) line.wait(fmt::format("liar{}", i), "0-0");
  for (std::size_t i = 0; i < kHonest; ++i) {
    line.wait(fmt::format("w{}", i), fmt::format("{}-0", 1000 + i));
  }
  line.free();
  std::set<std::string> served;
  std::set<std::string> asking;
  int calls = 0;
  for (; served.size() < kHonest && calls < 500; ++calls) {
    const std::string called = line.called();
    CAPTURE(called);
    REQUIRE(called.find(' ') == std::string::npos);
    if (called.starts_with("liar")) {
      asking.insert(called);
      if (at_once) line.wait(called, "0-0");
      if (at_once) CHECK(line.called() == called);
    } else if (!called.empty()) {
      CHECK(line.take(called));
      served.insert(called);
      line.give(called);
      continue;
    }
    line.pass(kNextAfter);
    for (const std::string& liar : std::exchange(asking, {})) line.wait(liar, "0-0");
  }
  CHECK(served.size() == kHonest);
  // The ten stood before the others; one call in four goes by that, and three are the liars'.
  CHECK(calls <= 4 * (10 + static_cast<int>(kHonest)) + 4 * static_cast<int>(kHonest));
}

TEST_CASE("many waiters: each is called once for each time that it waits, the smallest first") {
  Line line;
  constexpr int kWaiters = 300;
  for (int i = 0; i < kWaiters; ++i) {
    const int place = (i * 7) % kWaiters;
    line.wait(fmt::format("w{}", place), fmt::format("{}-0", 1000 + place));
  }
  line.free();
  for (int place = 0; place < kWaiters; ++place) {
    const std::string name = fmt::format("w{}", place);
    REQUIRE(line.called() == name);
    REQUIRE(line.take(name));
    line.give(name);
  }
  CHECK(line.node.node().waiters().count() == 0);
  CHECK_FALSE(line.node.node().locks().notes().any_wanted());
}
