#include "base/random.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("the same seed gives the same numbers, another seed others") {
  Random a(7);
  Random b(7);
  Random c(8);
  for (int i = 0; i < 100; ++i) {
    const auto number = a();
    CHECK(number == b());
    CHECK(number != c());
  }
}

TEST_CASE("a number below a bound is below it, and every one comes up") {
  Random random(1);
  bool seen[7] = {};
  for (int i = 0; i < 1000; ++i) {
    const auto number = random.below(7);
    REQUIRE(number < 7);
    seen[number] = true;
  }
  for (const bool came_up : seen) CHECK(came_up);
}
