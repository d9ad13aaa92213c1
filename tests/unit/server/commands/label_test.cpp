// LOCK.ACQUIRE … LABEL: who the holder of a lock says it is.
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

TEST_CASE("a label is told with the lock, and how long it is held; nobody else's value changes") {
  NodeFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000 LABEL backup@web3:4711");
  node.advance(4s);
  CHECK(node("LOCK.HOLDER printer") ==
        "[\"alice\", (integer) 6000, (integer) 1, \"backup@web3:4711\", (integer) 4000]");
  CHECK(node("GET printer") == "\"alice\"");
  CHECK(node("STRLEN printer") == "(integer) 5");
  CHECK(node("LOCK.EXTEND printer alice PX 10000") ==
        "[(integer) 1, (integer) 1, (integer) 10000]");
  node("LOCK.CONFIRM printer alice 5");
  CHECK(node("LOCK.HOLDER printer") ==
        "[\"alice\", (integer) 10000, (integer) 5, \"backup@web3:4711\", (integer) 4000]");
  CHECK(node("LOCK.RELEASE printer alice") == "(integer) 1");
  node("SET printer bob NX PX 10000");
  CHECK(node("LOCK.HOLDER printer") == "[\"bob\", (integer) 10000, (integer) 6]");
}

TEST_CASE("a top-up brings the label along, and a hash, a long one or half of one is refused") {
  NodeFixture node;
  CHECK(node("LOCK.EXTEND printer alice PX 10000 TOKEN 7 LABEL web3") ==
        "[(integer) 2, (integer) 7, (integer) 10000]");
  CHECK(node("LOCK.HOLDER printer") ==
        "[\"alice\", (integer) 10000, (integer) 7, \"web3\", (integer) 0]");
  CHECK(node("LOCK.ACQUIRE a b PX 100 LABEL") == "-ERR syntax error");
  CHECK(node("LOCK.ACQUIRE a b PX 100 LABLE x") == "-ERR syntax error");
  CHECK(node("LOCK.EXTEND printer alice PX 100 LABEL x") == "-ERR syntax error");
  CHECK_THAT(node("LOCK.ACQUIRE a b PX 100 LABEL " + std::string(129, 'x')),
             Contains("a label of 129 bytes is too long: at most 128 are taken"));
  node("LOCK.ACQUIRE a b PX 100 LABEL " + std::string(128, 'x'));
  CHECK_THAT(node("LOCK.HOLDER a"), Contains(std::string(128, 'x')));
}
