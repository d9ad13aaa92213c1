#include "coordinator/group/suspend_watch.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

ClockReading reading(Duration boottime, Duration monotonic) {
  return {Instant(boottime), Instant(monotonic)};
}

}  // namespace

TEST_CASE("clocks that run together are trusted (rule C3)") {
  SuspendWatch watch(reading(100s, 40s));
  CHECK(watch.trusts(reading(101s, 41s)));
  CHECK(watch.trusts(reading(500s, 440s + 5ms)));  // a pause between the two readings
  CHECK(watch.trusts(reading(501s, 441s)));
}

TEST_CASE("a machine that slept is never trusted again") {
  SuspendWatch watch(reading(100s, 40s));
  CHECK_FALSE(watch.trusts(reading(101s, 40500ms)));
  CHECK_FALSE(watch.trusts(reading(102s, 42s)));
}

TEST_CASE("a clock that goes back is not trusted") {
  SuspendWatch boottime(reading(100s, 40s));
  CHECK_FALSE(boottime.trusts(reading(99s, 41s)));
  SuspendWatch monotonic(reading(100s, 40s));
  CHECK_FALSE(monotonic.trusts(reading(100s, 39s)));
}

TEST_CASE("many short sleeps add up") {
  SuspendWatch watch(reading(100s, 40s));
  bool trusted = true;
  for (int i = 1; i <= 5; ++i) trusted = watch.trusts(reading(100s + i * 1s, 40s + i * 990ms));
  CHECK_FALSE(trusted);
}
