// Who is let in: what clients cost that give no password, or a wrong one.
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr std::string_view kWrong =
    "-WRONGPASS invalid username-password pair or user is disabled.";

Settings with_password(std::uint32_t maxclients = 10'000) {
  Settings settings;
  settings.requirepass = "secret";
  settings.maxclients = maxclients;
  return settings;
}

struct DoorFixture : NodeFixture {
  explicit DoorFixture(const Settings& settings = with_password()) : NodeFixture(settings) {}

  std::string ask(TestClient& client, std::string_view line) {
    client.send(line, now());
    return client.receive();
  }
  void pass(Duration d) {
    advance(d);
    do_due_work();
  }
};

}  // namespace

TEST_CASE("after ten wrong passwords a connection is told of each a second later") {
  DoorFixture node;
  const std::string_view guess = GENERATE("AUTH wrong", "HELLO 3 AUTH default wrong");
  TestClient guesser = node.connect();
  for (int i = 0; i < 10; ++i) CHECK(node.ask(guesser, guess) == kWrong);
  guesser.send(guess, node.now());
  guesser.send("AUTH secret", node.now());  // waits behind it, and then a second of its own
  CHECK(guesser.receive() == "(none)");
  node.pass(999ms);
  CHECK(guesser.receive() == "(none)");
  node.pass(1ms);
  CHECK(guesser.receive() == kWrong);
  CHECK(guesser.receive() == "(none)");
  node.pass(1s);
  CHECK(guesser.receive() == "+OK");
  CHECK(node.ask(guesser, "PING") == "+PONG");
  CHECK(node.ask(guesser, "AUTH wrong") == kWrong);  // it starts anew
}

TEST_CASE(
    "in a transaction a password is answered at once, and not looked at after ten wrong ones") {
  DoorFixture node;
  TestClient guesser = node.connect();
  CHECK(node.ask(guesser, "AUTH secret") == "+OK");
  for (int i = 0; i < 9; ++i) CHECK(node.ask(guesser, "AUTH wrong") == kWrong);
  CHECK(node.ask(guesser, "MULTI") == "+OK");
  for (const char* guess : {"AUTH wrong", "AUTH secret", "HELLO 3 AUTH default secret"}) {
    CHECK(node.ask(guesser, guess) == "+QUEUED");
  }
  const std::string untried =
      "-ERR no password is looked at in MULTI after so many wrong ones: send AUTH by itself";
  CHECK(node.ask(guesser, "EXEC") == fmt::format("[{}, {}, {}]", kWrong, untried, untried));
}

TEST_CASE("others do not wait for one who guesses") {
  DoorFixture node;
  TestClient guesser = node.connect();
  for (int i = 0; i < 11; ++i) guesser.send("AUTH wrong", node.now());
  TestClient alice = node.connect();
  CHECK(node.ask(alice, "AUTH secret") == "+OK");
  CHECK(node.ask(alice, "SET k v NX PX 1000") == "+OK");
}

TEST_CASE("one who guesses and goes leaves nothing behind that is told") {
  DoorFixture node;
  {
    TestClient guesser = node.connect();
    for (int i = 0; i < 11; ++i) guesser.send("AUTH wrong", node.now());
    CHECK_FALSE(node.node().has_unfinished_request(guesser.session()));
    node.node().close_session(guesser.session().id());
  }
  node.pass(1s);
  CHECK(node("AUTH secret") == "+OK");
}

TEST_CASE("wrong passwords are counted, and logged with who gave them, a line a second") {
  DoorFixture node;
  TestClient guesser = node.connect({"10.0.0.9:4711", "10.0.0.1:6379"});
  for (int i = 0; i < 12; ++i) guesser.send("AUTH wrong", node.now());
  CHECK(node.log().lines == std::vector<std::string>{"10.0.0.9:4711 gave a wrong password"});
  CHECK(node("AUTH secret") == "+OK");
  CHECK_THAT(node("INFO stats"), Catch::Contains("acl_access_denied_auth:11"));
  node.pass(1s);
  CHECK(node.log().lines[1] == "left out of the log: 10 of wrong passwords");
}

TEST_CASE("whoever gives no password is closed in time, and nobody else is") {
  DoorFixture node;
  CHECK(node("AUTH secret") == "+OK");
  TestClient silent = node.connect();
  TestClient talking = node.connect();
  node.pass(9s);
  CHECK(node.ask(talking, "PING").starts_with("-NOAUTH"));
  TestClient late = node.connect();
  node.pass(1s);
  CHECK(silent.session().is_closing());
  CHECK(talking.session().is_closing());
  CHECK_FALSE(late.session().is_closing());
  CHECK(node("PING") == "+PONG");
  CHECK_THAT(node("INFO stats"), Catch::Contains("unauthenticated_closed:2"));
}

TEST_CASE("who resets its connection has the full time again") {
  DoorFixture node;
  CHECK(node("AUTH secret") == "+OK");
  node.pass(1h);
  CHECK(node("RESET") == "+RESET");
  node.pass(9s);
  CHECK(node("AUTH secret") == "+OK");
  node.pass(1h);
  CHECK(node("PING") == "+PONG");
}

TEST_CASE("those without a password have a quarter of the places, and the first goes") {
  DoorFixture node(with_password(100));
  CHECK(node("AUTH secret") == "+OK");
  std::vector<TestClient> knocking;
  for (int i = 0; i < 25; ++i) knocking.push_back(node.connect());
  CHECK_FALSE(knocking[0].session().is_closing());
  CHECK(node.ask(knocking[1], "AUTH secret") == "+OK");
  TestClient fills_the_place = node.connect();
  CHECK_FALSE(knocking[0].session().is_closing());
  TestClient one_more = node.connect();
  CHECK(knocking[0].session().is_closing());
  CHECK_FALSE(knocking[2].session().is_closing());
  CHECK(node.ask(one_more, "AUTH secret") == "+OK");
}

TEST_CASE("where no password is asked for, nobody is closed for giving none") {
  DoorFixture node(Settings{});
  TestClient silent = node.connect();
  node.pass(1h);
  CHECK_FALSE(silent.session().is_closing());
  DoorFixture other;
  CHECK(other("AUTH secret") == "+OK");
  TestClient waits = other.connect();
  CHECK(other("CONFIG SET requirepass ''") == "+OK");
  other.pass(1h);
  CHECK_FALSE(waits.session().is_closing());
}
