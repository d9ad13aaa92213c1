// Users of a front door: what they send, and what their scripts call, is judged at the door.
#include "tests/support/door_world.h"

#include <string>

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("what a user's script calls at a door is judged by his rights") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~a:* +@lock") == "+OK");
  CHECK(operator_("SET b:1 v NX PX 10000") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(alice("SET a:1 v NX PX 10000") == "+OK");
  CHECK(alice("DEL b:1").starts_with("-NOPERM"));
  CHECK(alice(kReleaseCall + "b:1 v").starts_with("-NOPERM"));
  CHECK(alice("EVAL \"return redis.pcall('del', 'b:1')\" 0") ==
        "-ERR The user executing the script can't access at least one of the keys mentioned in the "
        "command arguments");
  CHECK(operator_("ACL LOG").find(R"("context", "lua", "object", "b:1", "username", "a")") !=
        std::string::npos);
  CHECK(operator_("GET b:1") == R"("v")");
  CHECK(operator_("EVAL \"return redis.call('get', 'b:1')\" 0") == R"("v")");
  CHECK(alice(kReleaseCall + "a:1 v") == "(integer) 1");
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

TEST_CASE("what was queued at a door is judged again when it runs") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~a:* +@lock +client|setname +client|getname") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("SET a:1 v PX 10000") == "+QUEUED");
  CHECK(alice("CLIENT SETNAME alice") == "+QUEUED");  // the session's own
  CHECK(operator_("ACL SETUSER a -set -client|setname") == "+OK");
  const std::string no =
      "-NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC "
      "call. This command is no longer allowed for the following reason: no permission to execute "
      "the command or subcommand";
  CHECK(alice("EXEC") == "[" + no + ", " + no + "]");
  CHECK(alice("CLIENT GETNAME") == "(nil)");
  CHECK(operator_("GET a:1") == "(nil)");
}

TEST_CASE("a user has so many locks at a time through a door, whoever ends them") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  const std::string full =
      "-NOPERM this user has as many locks as it may have at a time (max-locks 2)";
  CHECK(operator_("ACL SETUSER a on >x ~a:* +@lock +mset max-locks:2") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(bob("AUTH a x") == "+OK");
  CHECK(alice("SET a:1 v NX PX 10000") == "+OK");
  CHECK(bob("LOCK.ACQUIRE a:2 v PX 20000").starts_with("[(integer) 1"));
  CHECK(alice("SET a:3 v NX PX 10000") == full);
  CHECK(bob("LOCK.ACQUIRE a:3 v PX 10000") == full);
  CHECK(alice("EVAL \"return redis.pcall('set', KEYS[1], 'v', 'PX', 1000)\" 1 a:3") == full);
  CHECK(alice("MSET a:1 w a:2 w") == "+OK");
  CHECK(alice("PEXPIRE a:1 15000") == "(integer) 1");
  CHECK(operator_("DEL a:2") == "(integer) 1");
  CHECK(alice("SET a:3 v NX PX 10000") == "+OK");
  CHECK(alice("SET a:4 v NX PX 10000") == full);
  world.nodes().pass(12s);  // a:3 is over, and a:1 was extended
  CHECK(alice("SET a:4 v NX PX 10000") == "+OK");
  CHECK(alice("SET a:5 v NX PX 10000") == full);
  CHECK(alice("DEL a:4") == "(integer) 1");
  alice.send("SET a:5 v NX PX 10000");  // both at once
  bob.send("SET a:6 v NX PX 10000");
  const std::string both = alice.receive() + bob.receive();
  CHECK((both == "+OK" + full || both == full + "+OK"));
  CHECK(operator_("SET a:7 v NX PX 10000") == "+OK");
}

TEST_CASE("who may have no more locks keeps nobody waiting behind him") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  const std::string full =
      "-NOPERM this user has as many locks as it may have at a time (max-locks 1)";
  CHECK(operator_("ACL SETUSER a on >x ~* +@lock max-locks:1") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(alice("SET 1 v NX PX 60000") == "+OK");
  CHECK(operator_("SET 2 v NX PX 60000") == "+OK");
  alice.send("LOCK.ACQUIRE 2 v PX 1000 WAIT 60000");
  world.nodes().pass(100ms);
  bob.send("LOCK.ACQUIRE 2 v PX 1000 WAIT 60000");
  world.nodes().pass(100ms);
  CHECK(operator_("DEL 2") == "(integer) 1");
  CHECK(alice.receive(100ms) == full);
  CHECK(bob.receive(100ms).starts_with("[(integer) 1"));
  alice.send("LOCK.ACQUIRE 3 v PX 1000 WAIT 60000");
  CHECK(alice.receive(100ms) == full);
}

TEST_CASE("what a user puts in place of another's lock is his, and the other's no more") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  const std::string full =
      "-NOPERM this user has as many locks as it may have at a time (max-locks 1)";
  CHECK(operator_("ACL SETUSER a on >x ~* +@lock max-locks:1") == "+OK");
  CHECK(operator_("ACL SETUSER b on >x ~* +@lock max-locks:1") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(bob("AUTH b x") == "+OK");
  CHECK(alice("SET 1 v NX PX 30000") == "+OK");
  CHECK(operator_("SET 2 v NX PX 30000") == "+OK");
  CHECK(bob("SET 1 mine PX 30000") == "+OK");
  CHECK(bob("SET 2 mine PX 30000") == full);
  CHECK(operator_("GET 2") == R"("v")");
  CHECK(alice("SET 2 v PX 30000") == "+OK");  // the same value is an extension
  CHECK(alice("SET 3 v NX PX 30000") == "+OK");
  CHECK(operator_("SET 1 his PX 30000") == "+OK");
  CHECK(bob("SET 4 mine NX PX 30000") == "+OK");
  CHECK(alice("HSET h f 1") == full);
  CHECK(alice("DEL 3") == "(integer) 1");
  CHECK(alice("HSET h f 1") == "(integer) 1");
  CHECK(bob("HSET h f 2") == "(integer) 0");  // a hash stays its maker's
  CHECK(alice("SET 3 v NX PX 30000") == full);
}

TEST_CASE("who has as many locks as he may have puts one in another's place") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~* +@lock +eval +mget max-locks:2 eval-all") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(alice("SET 1 v NX PX 30000") == "+OK");
  CHECK(alice("SET 2 v NX PX 30000") == "+OK");
  const std::string move =
      "EVAL \"redis.call('del', KEYS[1]) "
      "return redis.call('set', KEYS[2], 'v', 'NX', 'PX', 30000)\" 2 ";
  CHECK(operator_("SET his v NX PX 30000") == "+OK");
  CHECK(alice(move + "free 3").starts_with("-NOPERM"));
  CHECK(alice(move + "his 3").starts_with("-NOPERM"));
  CHECK(alice(move + "1 3") == "+OK");
  CHECK(alice("MGET 1 2 3") == R"([(nil), "v", "v"])");
  CHECK(alice("SET 4 v NX PX 30000").starts_with("-NOPERM"));
  for (const unsigned node : {1U, 2U, 3U}) world.nodes().hang(node);
  CHECK(alice(move + "3 4").starts_with("-ERR NOQUORUM"));
  for (const unsigned node : {1U, 2U, 3U}) world.nodes().hang(node, false);
  world.nodes().pass(2s);
  CHECK(alice("MGET 2 3 4") == R"(["v", "v", (nil)])");
  CHECK(alice(move + "3 4") == "+OK");
}

TEST_CASE("a lock counts as its user's for as long as it can be extended") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~* +@lock max-locks:1") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(alice("SET 1 v NX PX 200") == "+OK");
  world.nodes().pass(400ms);  // its TTL is over, and the nodes keep it yet
  CHECK(alice("SET 2 v NX PX 200").starts_with("-NOPERM"));
  CHECK(alice("PEXPIRE 1 200") == "(integer) 1");
  world.nodes().pass(2s);
  CHECK(alice("PEXPIRE 1 200") == "(integer) 0");
  CHECK(alice("SET 2 v NX PX 20000") == "+OK");
  CHECK(alice("LOCK.EXTEND 2 v PX 1").starts_with("[(integer) 1"));  // what is longer stays
  world.nodes().pass(3s);
  CHECK(alice("SET 3 v NX PX 200").starts_with("-NOPERM"));
  CHECK(alice("GET 2") == R"("v")");
}

TEST_CASE("a lock that a user did not get does not count as his") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~a:* +@lock max-locks:1") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  DoorClient other = world.connect();
  CHECK(other("SET a:1 v NX PX 30000") == "+OK");
  CHECK(alice("SET a:1 mine NX PX 10000") == "(nil)");
  for (const unsigned number : {1u, 2u, 3u}) world.nodes().hang(number);
  CHECK(alice("SET a:2 mine NX PX 10000").starts_with("-ERR NOQUORUM"));
  for (const unsigned number : {1u, 2u, 3u}) world.nodes().hang(number, false);
  world.nodes().pass(2s);
  CHECK(alice("SET a:2 mine NX PX 10000") == "+OK");
}

TEST_CASE("a lock that its user was not told of does not count as his") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~* +@lock max-locks:1") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(bob("AUTH a x") == "+OK");
  alice.wire().takes_nothing = true;
  alice.send("SET 1 v NX PX 30000");
  CHECK(alice.receive(1s) == "(closed)");
  world.nodes().pass(1s);
  CHECK(bob("SET 2 v NX PX 30000") == "+OK");
}

TEST_CASE("who waits at a door does not take a lock for longer than he may by then") {
  DoorWorld world;
  DoorClient operator_ = world.connect();
  CHECK(operator_("ACL SETUSER a on >x ~a:* +@lock") == "+OK");
  CHECK(operator_("SET a:1 v NX PX 10000") == "+OK");
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(bob("AUTH a x") == "+OK");
  alice.send("LOCK.ACQUIRE a:1 long PX 5000 WAIT 60000");
  bob.send("LOCK.ACQUIRE a:1 short PX 1000 WAIT 60000");
  world.nodes().pass(100ms);
  CHECK(operator_("ACL SETUSER a max-ttl:1s") == "+OK");
  CHECK(operator_("DEL a:1") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(alice.receive() ==
        "-ERR a TTL of 5000 ms is above the max-ttl of this user (1000 ms): ask for less");
  CHECK(bob.receive().starts_with("[(integer) 1"));
  CHECK(operator_("GET a:1") == R"("short")");
}
