// LOCK.WAIT: who is woken, when, and by what (rule Q7).
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

// alice holds the printer for ten seconds; bob waits for it.
struct WaitFixture {
  NodeFixture node;
  TestClient bob = node.connect();

  WaitFixture() { REQUIRE(node("SET printer alice NX PX 10000") == "+OK"); }

  std::string ask(TestClient& client, std::string_view line) {
    client.send(line, node.now());
    return client.receive();
  }
  std::string bob_asks(std::string_view line) { return ask(bob, line); }
  void speak_resp3(TestClient& client) { REQUIRE(ask(client, "HELLO 3").find("{") == 0); }
  void pass(Duration d) {
    node.advance(d);
    node.do_due_work();
  }
  std::size_t waiters() { return node.node().waiters().count(); }
};

// As Reply::to_string writes a push.
std::string pushed(std::string_view key, int is_free) {
  return fmt::format(R"(>["lock.free", "{}", (integer) {}])", key, is_free);
}

}  // namespace

TEST_CASE("a wait for a free key is answered at once") {
  WaitFixture world;
  CHECK(world.bob_asks("LOCK.WAIT scanner 1000") == "(integer) 1");
  CHECK(world.waiters() == 0);
}

TEST_CASE("a timeout of 0 only looks") {
  WaitFixture world;
  CHECK(world.bob_asks("LOCK.WAIT printer 0") == "(integer) 0");
  CHECK(world.bob_asks("LOCK.WAIT scanner 0") == "(integer) 1");
}

TEST_CASE("a release wakes those who block on the key one by one, as they came") {
  WaitFixture world;
  TestClient carol = world.node.connect();
  CHECK(world.bob_asks("LOCK.WAIT printer 5000") == "(none)");
  CHECK(world.ask(carol, "LOCK.WAIT printer 5000") == "(none)");
  CHECK(world.waiters() == 2);
  CHECK(world.node("DEL printer") == "(integer) 1");
  CHECK(world.bob.receive() == "(integer) 1");
  CHECK(carol.receive() == "(none)");
  world.pass(10ms);  // wake-next-after: bob has not taken it
  CHECK(carol.receive() == "(integer) 1");
  CHECK(world.waiters() == 0);
}

TEST_CASE("a connection that blocks executes what came after it when it is woken") {
  WaitFixture world;
  TestClient carol = world.node.connect();
  CHECK(world.bob_asks("LOCK.WAIT printer 5000") == "(none)");
  CHECK(world.bob_asks("SET printer bob NX PX 10000") == "(none)");
  CHECK(world.ask(carol, "LOCK.WAIT printer 5000") == "(none)");
  CHECK(world.node("DEL printer") == "(integer) 1");
  CHECK(world.bob.receive() == "(integer) 1");
  CHECK(world.bob.receive() == "+OK");
  CHECK(carol.receive() == "(none)");  // bob has taken it
  CHECK(world.node("GET printer") == "\"bob\"");
}

TEST_CASE("two that pass a lock on wake each other, turn by turn") {
  WaitFixture world;
  TestClient carol = world.node.connect();
  world.bob_asks("LOCK.WAIT printer 5000");
  world.bob_asks("DEL scanner");
  world.node("SET scanner alice PX 9000");
  world.ask(carol, "LOCK.WAIT scanner 5000");
  CHECK(world.node("DEL printer") == "(integer) 1");
  CHECK(world.bob.receive() == "(integer) 1");
  CHECK(world.bob.receive() == "(integer) 1");  // its DEL scanner
  CHECK(carol.receive() == "(integer) 1");
}

TEST_CASE("a lock that ends by its deadline wakes within the wheel's tick, with no access") {
  WaitFixture world;
  CHECK(world.bob_asks("LOCK.WAIT printer 60000") == "(none)");
  world.pass(10s - 1ms);
  CHECK(world.bob.receive() == "(none)");
  world.pass(2ms);
  CHECK(world.bob.receive() == "(integer) 1");
}

TEST_CASE("the node asks to be called in time for the end of a wait") {
  WaitFixture world;
  world.bob_asks("LOCK.WAIT printer 250");
  CHECK(world.node.node().next_work() <= world.node.now().monotonic + 250ms);
  world.pass(249ms);
  CHECK(world.bob.receive() == "(none)");
  world.pass(1ms);
  CHECK(world.bob.receive() == "(integer) 0");
  CHECK(world.waiters() == 0);
}

TEST_CASE("whoever looks at a key that is over wakes those who wait for it") {
  WaitFixture world;
  world.bob_asks("LOCK.WAIT printer 60000");
  world.node.advance(10s);
  CHECK(world.node("GET printer") == "(nil)");
  CHECK(world.bob.receive() == "(integer) 1");
}

TEST_CASE("a wait that ends with the lock it waits for is told that the key is free") {
  WaitFixture world;
  world.bob_asks("LOCK.WAIT printer 10000");
  world.pass(10s);
  CHECK(world.bob.receive() == "(integer) 1");
}

TEST_CASE("a lock that is extended is waited for until its new end") {
  WaitFixture world;
  world.bob_asks("LOCK.WAIT printer 60000");
  world.pass(9s);
  CHECK(world.node("PEXPIRE printer 10000") == "(integer) 1");
  world.pass(2s);
  CHECK(world.bob.receive() == "(none)");
  world.pass(9s);
  CHECK(world.bob.receive() == "(integer) 1");
}

TEST_CASE("PEXPIRE with no time left wakes as a release does") {
  WaitFixture world;
  world.bob_asks("LOCK.WAIT printer 60000");
  CHECK(world.node("PEXPIRE printer 0") == "(integer) 1");
  CHECK(world.bob.receive() == "(integer) 1");
}

TEST_CASE("a script that frees the key and takes it again wakes nobody") {
  WaitFixture world;
  world.bob_asks("LOCK.WAIT printer 60000");
  CHECK(world.node("EVAL \"redis.call('DEL', KEYS[1]) return redis.call('SET', KEYS[1], 'carol', "
                   "'PX', 5000)\" 1 printer") == "+OK");
  CHECK(world.bob.receive() == "(none)");
  CHECK(world.waiters() == 1);
  CHECK(world.node("EVAL \"return redis.call('DEL', KEYS[1])\" 1 printer") == "(integer) 1");
  CHECK(world.bob.receive() == "(integer) 1");
}

TEST_CASE("another value under the key is no end of it") {
  WaitFixture world;
  world.bob_asks("LOCK.WAIT printer 60000");
  CHECK(world.node("SET printer carol PX 5000") == "+OK");
  CHECK(world.bob.receive() == "(none)");
}

TEST_CASE("with PUSH the connection stays usable and is told once") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  CHECK(world.bob_asks("LOCK.WAIT printer 5000 PUSH") == "+OK");
  CHECK(world.bob_asks("PING") == "+PONG");
  CHECK(world.node("DEL printer") == "(integer) 1");
  CHECK(world.bob.receive() == pushed("printer", 1));
  CHECK(world.node("SET printer alice NX PX 10000") == "+OK");
  CHECK(world.node("DEL printer") == "(integer) 1");
  CHECK(world.bob.receive() == "(none)");
}

TEST_CASE("with PUSH the timeout is told by a push as well") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.bob_asks("LOCK.WAIT printer 5000 push");
  world.pass(5s);
  CHECK(world.bob.receive() == pushed("printer", 0));
}

TEST_CASE("with PUSH a key that is free already is pushed behind the OK, before anything else") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  CHECK(world.bob_asks("LOCK.WAIT scanner 5000 PUSH") == "+OK");
  CHECK(world.bob.receive() == pushed("scanner", 1));
  CHECK(world.bob.receive() == "(none)");
  CHECK(world.waiters() == 0);
}

TEST_CASE("one connection waits for many keys, each told by itself") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.node("SET scanner alice PX 3000");
  world.bob_asks("LOCK.WAIT printer 60000 PUSH");
  world.bob_asks("LOCK.WAIT scanner 60000 PUSH");
  world.pass(4s);
  CHECK(world.bob.receive() == pushed("scanner", 1));
  world.pass(7s);
  CHECK(world.bob.receive() == pushed("printer", 1));
}

TEST_CASE("0 PUSH cancels, and arming again replaces the deadline") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.bob_asks("LOCK.WAIT printer 1000 PUSH");
  CHECK(world.bob_asks("LOCK.WAIT printer 4000 PUSH") == "+OK");
  CHECK(world.waiters() == 1);
  world.pass(2s);
  CHECK(world.bob.receive() == "(none)");
  CHECK(world.bob_asks("LOCK.WAIT printer 0 PUSH") == "+OK");
  CHECK(world.waiters() == 0);
  CHECK(world.node("DEL printer") == "(integer) 1");
  CHECK(world.bob.receive() == "(none)");
  CHECK(world.bob_asks("LOCK.WAIT printer 0 PUSH") == "+OK");  // nothing to cancel is no error
  CHECK(world.bob.receive() == "(none)");
}

TEST_CASE("a wake that was not yet delivered is cancelled too, and told once when armed again") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.bob_asks("LOCK.WAIT printer 4000 PUSH");
  protocol::OutputBuffer batch;  // one read: the wake of the DEL would come at its end
  for (const auto& words : {std::vector<std::string_view>{"DEL", "printer"},
                            {"LOCK.WAIT", "printer", "4000", "PUSH"},
                            {"PING"}}) {
    protocol::write_request(words, batch);
  }
  world.node.node().receive(world.bob.session(), batch.view(), world.node.now());
  CHECK(world.bob.receive() == "(integer) 1");
  CHECK(world.bob.receive() == "+OK");
  CHECK(world.bob.receive() == pushed("printer", 1));
  CHECK(world.bob.receive() == "+PONG");
  CHECK(world.bob.receive() == "(none)");
}

TEST_CASE("a wait by push stands beside one that blocks: each is told in its own form") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.bob_asks("LOCK.WAIT printer 60000 PUSH");
  CHECK(world.bob_asks("LOCK.WAIT printer 60000") == "(none)");
  world.node("DEL printer");
  CHECK(world.bob.receive() == pushed("printer", 1));
  world.pass(10ms);  // two waits, one behind the other
  CHECK(world.bob.receive() == "(integer) 1");
}

TEST_CASE("a session that goes away takes its waits along") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.node("SET scanner alice PX 3000");
  world.bob_asks("LOCK.WAIT scanner 60000 PUSH");
  world.bob_asks("LOCK.WAIT printer 60000");
  CHECK(world.waiters() == 2);
  world.node.node().close_session(world.bob.session().id());
  CHECK(world.waiters() == 0);
  CHECK_FALSE(world.node.node().locks().notes().has_given_up());
  CHECK(world.node("DEL printer scanner") == "(integer) 2");
  CHECK_FALSE(world.node.node().locks().notes().has_given_up());  // nobody waits: nothing is noted
}

TEST_CASE("RESET ends the waits, and one that went back to RESP2 is pushed nothing") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.bob_asks("LOCK.WAIT printer 60000 PUSH");
  world.bob_asks("HELLO 2");
  world.node("DEL printer");
  CHECK(world.bob.receive() == "(none)");
  world.node("SET printer alice PX 3000");
  world.speak_resp3(world.bob);
  world.bob_asks("LOCK.WAIT printer 60000 PUSH");
  CHECK(world.bob_asks("RESET") == "+RESET");
  CHECK(world.waiters() == 0);
}

TEST_CASE("RESET ends a wait that was just to be told, too") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  world.bob_asks("LOCK.WAIT printer 60000 PUSH");
  protocol::OutputBuffer bytes;  // in one packet, so that the wake is not delivered in between
  protocol::write_request(std::vector<std::string_view>{"DEL", "printer"}, bytes);
  protocol::write_request(std::vector<std::string_view>{"RESET"}, bytes);
  protocol::write_request(std::vector<std::string_view>{"HELLO", "3"}, bytes);
  world.node.node().receive(world.bob.session(), bytes.view(), world.node.now());
  CHECK(world.bob.receive() == "(integer) 1");
  CHECK(world.bob.receive() == "+RESET");
  CHECK(world.bob.receive().find("{") == 0);
  CHECK(world.bob.receive() == "(none)");
}

TEST_CASE("bad words are told what is wrong") {
  WaitFixture world;
  CHECK(world.bob_asks("LOCK.WAIT printer") ==
        "-ERR wrong number of arguments for 'lock.wait' command");
  CHECK(world.bob_asks("LOCK.WAIT printer soon") ==
        "-ERR timeout is not an integer or out of range");
  CHECK(world.bob_asks("LOCK.WAIT printer -1") == "-ERR timeout is negative");
  CHECK(world.bob_asks("LOCK.WAIT printer 3600001") ==
        "-ERR timeout is longer than 3600000 ms: wait for so long at most, and again when it is "
        "over");
  CHECK(world.bob_asks("LOCK.WAIT printer 5000 LATER") == "-ERR syntax error");
  CHECK(world.bob_asks("LOCK.WAIT printer 5000 PUSH PUSH") == "-ERR syntax error");
  CHECK(world.bob_asks("LOCK.WAIT printer 5000 AT") == "-ERR syntax error");
  CHECK(world.bob_asks("LOCK.WAIT printer 5000 AT 1-1 PUSH") == "-ERR syntax error");
  for (const char* ticket :
       {"soon", "1", "-1-1", "01-1", "1-", "1-1-1", "9007199254740992-0", "0-9007199254740992"}) {
    CHECK(world.bob_asks(fmt::format("LOCK.WAIT printer 5000 AT {}", ticket)) ==
          "-ERR a ticket is two numbers of at most 9007199254740991, such as 1764178532000-17");
  }
  CHECK(world.bob_asks("LOCK.WAIT printer 5000 PUSH") ==
        "-ERR LOCK.WAIT with PUSH needs RESP3: send HELLO 3 first, or leave PUSH out to block this "
        "connection");
  CHECK(world.node("EVAL \"return redis.call('LOCK.WAIT', KEYS[1], 0)\" 1 printer")
            .find("-ERR This Redis command is not allowed from script") == 0);
  CHECK(world.waiters() == 0);
}

TEST_CASE("a connection waits for so many keys, and for no more") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  for (std::size_t i = 0; i < kWaitsPerSessionMax; ++i) {
    const std::string key = fmt::format("printer:{}", i);
    REQUIRE(world.node(fmt::format("SET {} alice PX 50000", key)) == "+OK");
    REQUIRE(world.bob_asks(fmt::format("LOCK.WAIT {} 60000 PUSH", key)) == "+OK");
  }
  CHECK(world.bob_asks("LOCK.WAIT printer 60000 PUSH") ==
        "-ERR this connection waits for 10000 keys already");
  CHECK(world.bob_asks("LOCK.WAIT printer:0 50000 PUSH") == "+OK");  // in the place of its own
  CHECK(world.bob_asks("LOCK.WAIT printer:0 0 PUSH") == "+OK");
  CHECK(world.bob_asks("LOCK.WAIT printer 60000 PUSH") == "+OK");
}

TEST_CASE("waits count against maxmemory") {
  Settings settings;
  settings.maxmemory = 64ull * 1024 * 1024;
  NodeFixture node(std::move(settings));
  const std::uint64_t before = node.node().used_memory();
  node("SET printer alice PX 50000");
  TestClient bob = node.connect();
  bob.send("LOCK.WAIT printer 60000", node.now());
  CHECK(node.node().used_memory() > before);
}

TEST_CASE("a recovering node lets nobody wait") {
  NodeStart start;
  start.grant_from = Instant(24h) + 5s;
  NodeFixture node({}, std::move(start));
  CHECK(node("LOCK.WAIT printer 1000") ==
        "-ERR recovering after a restart, no new locks for 5000 ms");
  node.advance(5s);
  CHECK(node("LOCK.WAIT printer 1000") == "(integer) 1");
}

TEST_CASE("a client that waits is not idle") {
  Settings settings;
  settings.timeout = 2s;
  NodeFixture node(std::move(settings));
  node("SET printer alice PX 50000");
  TestClient bob = node.connect();
  bob.send("HELLO 3", node.now());
  bob.send("LOCK.WAIT printer 30000 PUSH", node.now());
  node.advance(10s);
  node.do_due_work();
  CHECK_FALSE(bob.session().is_closing());
  node.advance(25s);
  node.do_due_work();
  node.advance(2s);
  node.do_due_work();
  CHECK(bob.session().is_closing());
}

TEST_CASE("INFO tells who waits and who blocks") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  TestClient carol = world.node.connect();
  world.bob_asks("LOCK.WAIT printer 5000 PUSH");
  world.ask(carol, "LOCK.WAIT printer 5000");
  const std::string info = world.node("INFO locks");
  for (const char* field : {"waiters:2", "waited_for:1", "longest_line:2", "oldest_wait_ms:0"}) {
    CHECK(info.find(fmt::format("{}\\r\\n", field)) != std::string::npos);
  }
  world.bob_asks("LOCK.WAIT printer 5000 PUSH AT 1699999998750-1");
  CHECK(world.node("INFO locks").find("oldest_wait_ms:1250\\r\\n") != std::string::npos);
  CHECK(world.node("INFO clients").find("blocked_clients:1\\r\\n") != std::string::npos);
}

TEST_CASE("the ends of many locks at once wake each of their waiters") {
  WaitFixture world;
  world.speak_resp3(world.bob);
  constexpr int kLocks = 3000;  // several turns of expiry
  for (int i = 0; i < kLocks; ++i) {
    world.node(fmt::format("SET lock:{} alice PX 1000", i));
    world.bob_asks(fmt::format("LOCK.WAIT lock:{} 5000 PUSH", i));
  }
  world.pass(1002ms);
  int told = 0;
  while (world.bob.receive().find("lock.free") != std::string::npos) ++told;
  CHECK(told == kLocks);
}
