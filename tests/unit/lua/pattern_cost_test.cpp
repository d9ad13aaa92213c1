#include "lua/pattern_cost.h"

#include "lua/limits.h"

#include <catch2/catch.hpp>

using namespace redlock::lua;

TEST_CASE("a pattern that is anchored and repeats nothing is cheap for any subject") {
  CHECK(pattern_steps("^lock:", 1 << 24) < 100);
  CHECK(pattern_steps("^(%w+)", 1 << 24) < 100);  // the end can fail no more
}

TEST_CASE("each repetition multiplies what a match can cost") {
  CHECK(pattern_steps("a*b", 1000) > 1000.0 * 1000 / 2);
  CHECK(pattern_steps("a*a*b", 1000) > 1e8);
  CHECK(pattern_steps("a*a*a*a*b", 200) > kPatternStepsMax);
  CHECK(pattern_steps("[^%]]*x[]]-y", 1000) == pattern_steps("a*xxxxxa-yyy", 1000));
  CHECK(pattern_steps("^a?a?a?b", 10) == 8 * pattern_steps("^abababab", 10));
}

TEST_CASE("brackets and captures that are compared count as repetitions") {
  CHECK(pattern_steps("^%b()x", 1000) > 1000);
  CHECK(pattern_steps("^(a*)%1x", 1000) > 1000.0 * 1000 / 2);
}

TEST_CASE("patterns that scripts of locks use stay affordable") {
  CHECK(pattern_steps("^(%w+):(%w+):(%w+)$", 500) < kPatternStepsMax);
  CHECK(pattern_steps("[^,]+", 1 << 20) < kPatternStepsMax);
  CHECK(pattern_steps("(.-):", 4096) < kPatternStepsMax);
}

TEST_CASE("a pattern that ends in the middle of an item is read to its end") {
  for (const char* pattern : {"", "^", "%", "[", "[^", "[]", "[^]", "[%", "a[%]", "*", "%b", "("}) {
    CAPTURE(pattern);
    CHECK(pattern_steps(pattern, 10) >= 1);
  }
}

TEST_CASE("a plain search costs its two lengths") {
  CHECK(plain_search_steps(10, 5) == 1);
  CHECK(plain_search_steps(1 << 22, 1 << 23) > kPatternStepsMax);
  CHECK(plain_search_steps(3, 1 << 24) < kPatternStepsMax);
  CHECK(is_plain("lock_1"));
  CHECK_FALSE(is_plain("lock-1"));
}
