// LOCK.RELEASE … UNDO: what a front door takes back, and what it leaves (rule D5).
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

TEST_CASE("an undo takes a grant back for good, as a final release does (rules Q3, D5)") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.RELEASE printer alice UNDO") == "(integer) 1");
  CHECK(node("LOCK.EXTEND printer alice PX 10000 TOKEN 500") == "[(integer) 0]");
  CHECK(node("lock.release lamp alice undo") == "(integer) 0");  // it comes before its lock
  CHECK(node("LOCK.ACQUIRE lamp alice PX 10000") == "[(integer) 0, (integer) 0]");
  node("SET scanner bob PX 10000");
  CHECK(node("LOCK.RELEASE scanner alice UNDO") == "(integer) 0");
  CHECK(node("GET scanner") == "\"bob\"");
}

TEST_CASE("an undo leaves alone what somebody has extended since (rule D5)") {
  const std::string extension =
      GENERATE(as<std::string>(), "LOCK.EXTEND printer alice PX 10000",
               "LOCK.EXTEND printer alice PX 10",  // also one that moves nothing
               "PEXPIRE printer 20000", "SET printer alice IFEQ alice PX 5000",
               "SET printer alice PX 10000", "GETEX printer PX 9000");
  CAPTURE(extension);
  NodeFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  node(extension);
  CHECK(node("LOCK.RELEASE printer alice UNDO") == "(integer) 0");
  CHECK(node("GET printer") == "\"alice\"");
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 10000"), Contains("[(integer) 1"));
  CHECK(node.node().grants().release_marks().size() == 0);
  CHECK(node("LOCK.RELEASE printer alice FINAL") == "(integer) 1");
  CHECK(node("SET printer alice NX PX 10000") == "+OK");  // a grant is none, whatever was before
  CHECK(node("LOCK.RELEASE printer alice UNDO") == "(integer) 1");
}

TEST_CASE("an undo leaves a top-up alone: only a lock that was extended is topped up (D5, D8)") {
  NodeFixture node;
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 10000 TOKEN 500"), Contains("[(integer) 2"));
  CHECK(node("LOCK.RELEASE printer alice UNDO") == "(integer) 0");
  CHECK(node("GET printer") == "\"alice\"");
}
