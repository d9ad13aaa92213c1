// Users of a front door: what they send, and what their scripts call, is judged at the door.
#include "tests/support/door_world.h"

#include <string>

#include <catch2/catch.hpp>

using namespace redlock;

namespace {

const std::string kRelease =
    "EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else "
    "return 0 end\" 1 ";

}  // namespace

TEST_CASE("what a user's script calls at a door is judged by his rights") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~a:* +@lock") == "+OK");
  CHECK(operator_("SET b:1 v NX PX 10000") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(alice("SET a:1 v NX PX 10000") == "+OK");
  CHECK(alice("DEL b:1").starts_with("-NOPERM"));
  CHECK(alice(kRelease + "b:1 v").starts_with("-NOPERM"));
  CHECK(alice("EVAL \"return redis.pcall('del', 'b:1')\" 0") ==
        "-ERR The user executing the script can't access at least one of the keys mentioned in the "
        "command arguments");
  CHECK(operator_("ACL LOG").find(R"("context", "lua", "object", "b:1", "username", "a")") !=
        std::string::npos);
  CHECK(operator_("GET b:1") == R"("v")");
  CHECK(operator_("EVAL \"return redis.call('get', 'b:1')\" 0") == R"("v")");
  CHECK(alice(kRelease + "a:1 v") == "(integer) 1");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("SET a:2 v PX 10000") == "+QUEUED");
  CHECK(alice("DEL b:1").starts_with("-NOPERM"));
  CHECK(alice("EXEC").starts_with("-EXECABORT"));
  CHECK(operator_("GET a:2") == "(nil)");
}

TEST_CASE("who waits at a door neither takes nor hears of a lock that is not his any more") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~a:* ~s:* +@lock") == "+OK");
  CHECK(operator_("SET s:1 v NX PX 10000") == "+OK");
  DoorClient taker = world.connect();
  DoorClient waiter = world.connect();
  CHECK(taker("AUTH a x") == "+OK");
  CHECK(waiter("AUTH a x") == "+OK");
  taker.send("LOCK.ACQUIRE s:1 mine PX 5000 WAIT 60000");
  waiter.send("LOCK.WAIT s:1 60000");
  world.nodes().pass(100ms);
  CHECK(operator_("ACL SETUSER a resetkeys ~a:*") == "+OK");
  CHECK(operator_("DEL s:1") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(taker.receive().starts_with("-NOPERM"));
  CHECK(waiter.receive().starts_with("-NOPERM"));
  CHECK(operator_("GET s:1") == "(nil)");
  CHECK(taker("SET a:1 mine NX PX 5000") == "+OK");
}
