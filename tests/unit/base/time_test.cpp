#include "base/time.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("what is left of a lock is rounded up to whole milliseconds (rule C2)") {
  CHECK(ceil_ms(0ns) == 0);
  CHECK(ceil_ms(1ns) == 1);
  CHECK(ceil_ms(1ms) == 1);
  CHECK(ceil_ms(1ms + 1ns) == 2);
  CHECK(floor_ms(2ms - 1ns) == 1);
}

TEST_CASE("a deadline beyond the end of time is never, not yesterday") {
  CHECK(later(Instant(5s), 10s) == Instant(15s));
  CHECK(later(Instant(5s), Duration::max()) == kNever);
  CHECK(later(kNever, 1ns) == kNever);
}

TEST_CASE("of two pieces of work the earlier one is waited for, if there is any") {
  CHECK(earlier(Instant(2s), Instant(1s)) == Instant(1s));
  CHECK(earlier(Instant(1s), kNever) == Instant(1s));
  CHECK(earlier(std::nullopt, Instant(1s)) == Instant(1s));
  CHECK(earlier(Instant(1s), std::nullopt) == Instant(1s));
  CHECK(earlier(std::nullopt, std::nullopt) == std::nullopt);
}

TEST_CASE("stretching by the drift bound rounds up and saturates (rule C1)") {
  CHECK(stretch(100s, 0.01) == 101s);
  CHECK(stretch(1ns, 0.01) == 2ns);
  CHECK(stretch(0ns, 0.01) == 0ns);
  CHECK(stretch(Duration::max(), 0.01) == Duration::max());
}
