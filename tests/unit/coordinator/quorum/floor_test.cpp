// The floor of tokens, as counters tell it (rules F6 and F9).
#include "coordinator/quorum/floor.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("the (q - (N - r))-th largest of r counters: whoever gave a token is among those") {
  CHECK(floor_of({7, 9, 8}, 5)->token == 9);
  CHECK(floor_of({7, 9, 8, 6}, 5)->token == 8);
  CHECK(floor_of({7, 9, 8, 6, 5}, 5)->token == 7);
  CHECK(floor_of({7, 9, 8}, 4)->token == 8);
  CHECK(floor_of({7}, 1)->token == 7);
  CHECK_FALSE(floor_of({7, 9}, 5));
  CHECK_FALSE(floor_of({}, 1));
}

TEST_CASE("a floor that the next largest counter does not bear out stands apart") {
  CHECK_FALSE(floor_of({kLeapMax + 7, 7, 7}, 5)->is_apart());
  CHECK(floor_of({kLeapMax + 8, 7, 7}, 5)->is_apart());
  CHECK_FALSE(floor_of({kLeapMax + 8, 7, 7, 7}, 5)->is_apart());  // it is not the floor
  CHECK_FALSE(floor_of({kLeapMax + 8, 7}, 2)->is_apart());        // both have what was given
  CHECK_FALSE(floor_of({kLeapMax + 8}, 1)->is_apart());           // there is no other one
}
