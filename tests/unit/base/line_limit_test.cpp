// How often a kind of line may come that others can cause.
#include "base/line_limit.h"

#include <catch2/catch.hpp>

using namespace redlock;

namespace {

constexpr Instant kNow(24h);

}  // namespace

TEST_CASE("so many lines a second pass, however many come") {
  LineLimit limit(2);
  CHECK(limit.lets_pass(kNow));
  CHECK(limit.lets_pass(kNow + 1ms));
  CHECK_FALSE(limit.tells_at());
  CHECK_FALSE(limit.lets_pass(kNow + 2ms));
  CHECK_FALSE(limit.lets_pass(kNow + 999ms));
  CHECK(limit.tells_at() == kNow + 1s);
}

TEST_CASE("what comes seldom all passes") {
  LineLimit limit(1);
  for (int second = 0; second < 5; ++second) {
    CHECK(limit.lets_pass(kNow + std::chrono::seconds(second)));
  }
  CHECK_FALSE(limit.tells_at());
}

TEST_CASE("the number of those left out is told first, and is the second's first line") {
  LineLimit limit(1);
  CHECK(limit.lets_pass(kNow));
  for (int i = 0; i < 7; ++i) CHECK_FALSE(limit.lets_pass(kNow + 5ms));
  CHECK_FALSE(limit.lets_pass(kNow + 1s));  // not told yet
  CHECK(limit.take_left_out(kNow + 1s) == 8);
  CHECK_FALSE(limit.tells_at());
  CHECK_FALSE(limit.lets_pass(kNow + 1100ms));
  CHECK(limit.tells_at() == kNow + 2s);
  CHECK(limit.take_left_out(kNow + 2s) == 1);
  CHECK(limit.lets_pass(kNow + 3s));
}
