// A front door over five real nodes: what its clients are told, and what the nodes hold.
#include "tests/support/door_world.h"

#include <string>

#include <catch2/catch.hpp>

using namespace redlock;

namespace {

const std::string kRelease =
    "EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else "
    "return 0 end\" 1 ";
const std::string kExtend =
    "EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],"
    "ARGV[2]) else return 0 end\" 1 ";

}  // namespace

TEST_CASE("the single-node recipe takes a lock at a quorum, and gives it back") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("PING") == "+PONG");
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  CHECK(world.held_at("printer") == 5);
  CHECK(bob("SET printer bob NX PX 10000") == "(nil)");
  CHECK(bob("GET printer") == "\"alice\"");
  CHECK(bob(kRelease + "printer bob") == "(integer) 0");
  CHECK(alice(kExtend + "printer alice 20000") == "(integer) 1");
  CHECK(alice(kRelease + "printer alice") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
  CHECK(bob("GET printer") == "(nil)");
  CHECK(bob("SET printer bob NX PX 10000") == "+OK");
}

TEST_CASE("two nodes that are down cost nothing; three make it an error that names them") {
  DoorWorld world;
  DoorClient alice = world.connect();
  world.nodes().refuse(4);
  world.nodes().hang(5);
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  CHECK(alice("GET printer") == "\"alice\"");
  CHECK(alice(kExtend + "printer alice 20000") == "(integer) 1");
  CHECK(alice(kRelease + "printer alice") == "(integer) 1");
  world.nodes().hang(3);
  const std::string error = alice("SET scanner alice NX PX 10000");
  CHECK(error.starts_with("-ERR NOQUORUM 2 of 5 nodes answered: "));
  CHECK(error.find("node3:6379") != std::string::npos);
  CHECK(alice("GET printer").starts_with("-ERR NOQUORUM"));
}
