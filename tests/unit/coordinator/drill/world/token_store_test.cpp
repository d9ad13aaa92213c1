#include "coordinator/drill/world/token_store.h"

#include "coordinator/drill/world/store_link.h"

#include <catch2/catch.hpp>

using namespace redlock::drill;

TEST_CASE("the store refuses a token smaller than the largest it saw, and accepts an equal one") {
  TokenStore store;
  CHECK(store.accepts("a", 7));
  CHECK(store.accepts("a", 7));
  CHECK(store.accepts("a", 9));
  CHECK_FALSE(store.accepts("a", 8));
  CHECK(store.accepts("a", 9));
  CHECK(store.accepts("b", 1));
}

TEST_CASE("a refused token does not count as seen, and who has none is believed") {
  TokenStore store;
  CHECK(store.accepts("a", 5));
  CHECK_FALSE(store.accepts("a", 4));
  CHECK(store.accepts("a", 0));
  CHECK_FALSE(store.accepts("a", 4));
  CHECK(store.accepts("a", 5));
}

TEST_CASE("a write is a line, and what is no write is not taken for one") {
  const auto parsed = parse_store_write("client 3\tclient 3/4711.1\tlock 2\t42");
  REQUIRE(parsed);
  CHECK(parsed->client == "client 3");
  CHECK(parsed->hold == "client 3/4711.1");
  CHECK(parsed->lock == "lock 2");
  CHECK(parsed->token == 42);
  CHECK(line_of(*parsed) == "client 3\tclient 3/4711.1\tlock 2\t42\n");
  for (const char* wrong : {"", "a\tb\tc", "a\tb\tc\t", "a\tb\tc\t-1", "a\tb\tc\t1\t2"}) {
    CHECK_FALSE(parse_store_write(wrong));
  }
}
