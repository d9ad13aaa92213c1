// CLIENT PAUSE: commands wait, and are executed when it is over.
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

// alice asks by node("…") and pauses; bob is another client.
struct PauseFixture : NodeFixture {
  TestClient other = connect();

  std::string bob(std::string_view line) {
    other.send(line, now());
    return other.receive();
  }
  void pass(Duration d) {
    advance(d);
    do_due_work();
  }
};

}  // namespace

TEST_CASE("a pause of writes lets reads pass and keeps the writes for later") {
  PauseFixture node;
  CHECK(node("CLIENT PAUSE 1000 WRITE") == "+OK");
  CHECK(node.bob("GET printer") == "(nil)");
  CHECK(node.bob("SET printer bob NX PX 10000") == "(none)");
  CHECK(node.bob("GET printer") == "(none)");  // behind it
  CHECK(node("GET printer") == "(nil)");
  node.pass(999ms);
  CHECK(node.other.receive() == "(none)");
  node.pass(1ms);
  CHECK(node.other.receive() == "+OK");
  CHECK(node.other.receive() == "\"bob\"");
  CHECK_FALSE(node.other.session().is_paused);
  CHECK(node("PTTL printer") == "(integer) 10000");  // from when it was executed (rule C4)
}

TEST_CASE("scripts and PUBLISH wait with the writes, and EXEC with what is queued") {
  PauseFixture node;
  node.bob("MULTI");
  node.bob("DEL printer");
  node("CLIENT PAUSE 1000 WRITE");
  const std::string_view writing =
      GENERATE("EVAL \"return 1\" 0", "PUBLISH news hello", "DEL printer");
  TestClient carol = node.connect();
  carol.send(writing, node.now());
  CHECK(carol.receive() == "(none)");
  CHECK(node.bob("EXEC") == "(none)");
  node.pass(1s);
  CHECK(carol.receive() != "(none)");
  CHECK(node.other.receive() == "[(integer) 0]");
}

TEST_CASE("a transaction of reads passes a pause of writes") {
  PauseFixture node;
  node("CLIENT PAUSE 1000 WRITE");
  CHECK(node.bob("MULTI") == "+OK");
  CHECK(node.bob("GET printer") == "+QUEUED");
  CHECK(node.bob("EXEC") == "[(nil)]");
}

TEST_CASE("a pause of all keeps everybody waiting, whoever began it too") {
  PauseFixture node;
  CHECK(node("CLIENT PAUSE 1000") == "+OK");
  CHECK(node.bob("PING") == "(none)");
  CHECK(node("CLIENT UNPAUSE") == "(none)");
  node.pass(1s);
  CHECK(node.other.receive() == "+PONG");
}

TEST_CASE("UNPAUSE ends a pause at once") {
  PauseFixture node;
  node("CLIENT PAUSE 60000 WRITE");
  CHECK(node.bob("SET printer bob NX PX 10000") == "(none)");
  CHECK(node("CLIENT UNPAUSE") == "+OK");
  CHECK(node.other.receive() == "+OK");
  CHECK(node("CLIENT UNPAUSE") == "+OK");
}

TEST_CASE("UNPAUSE ends it at once also for who had to wait until it could say so") {
  PauseFixture node;
  node("SET printer alice NX PX 60000");
  CHECK(node.bob("LOCK.WAIT printer 1000") == "(none)");
  CHECK(node.bob("CLIENT UNPAUSE") == "(none)");
  node("CLIENT PAUSE 60000 WRITE");
  TestClient carol = node.connect();
  carol.send("SET lamp carol NX PX 10000", node.now());
  node.pass(1s);
  CHECK(node.other.receive() == "(integer) 0");
  CHECK(node.other.receive() == "+OK");
  CHECK(carol.receive() == "+OK");
}

TEST_CASE("a second pause neither narrows nor shortens the first") {
  PauseFixture node;
  node("CLIENT PAUSE 2000 WRITE");
  node("CLIENT PAUSE 1000 ALL");
  CHECK(node.bob("PING") == "(none)");
  node.pass(1500ms);
  CHECK(node.other.receive() == "(none)");
  node.pass(500ms);
  CHECK(node.other.receive() == "+PONG");
}

TEST_CASE("the node asks to be called at the end of a pause, but for one without an end") {
  PauseFixture node;
  node("CLIENT PAUSE 9223372036854775807 WRITE");
  CHECK_FALSE(node.node().next_work());
  node("CLIENT UNPAUSE");
  node("CLIENT PAUSE 1000 WRITE");
  CHECK(node.node().next_work() == node.now().monotonic + 1s);
}

TEST_CASE("a paused client that leaves is let go, and its command with it") {
  PauseFixture node;
  node("CLIENT PAUSE 1000 WRITE");
  node.bob("SET printer bob NX PX 10000");
  CHECK_FALSE(node.node().has_unfinished_request(node.other.session()));
  node.node().close_session(node.other.session().id());
  node.pass(1s);
  CHECK(node("GET printer") == "(nil)");
}

TEST_CASE("what Redis says to a pause that cannot be read") {
  PauseFixture node;
  CHECK(node("CLIENT PAUSE") == "-ERR wrong number of arguments for 'client|pause' command");
  CHECK(node("CLIENT PAUSE x") == "-ERR timeout is not an integer or out of range");
  CHECK(node("CLIENT PAUSE -1") == "-ERR timeout is negative");
  CHECK(node("CLIENT PAUSE 1 READ") == "-ERR CLIENT PAUSE mode must be WRITE or ALL");
  CHECK(node("CLIENT PAUSE 1 WRITE x") ==
        "-ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP.");
}
