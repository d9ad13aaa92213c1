#include "base/net/turn/clock.h"

#include "base/invariant.h"

#include <ctime>

namespace redlock::net {
namespace {

Duration time_on(clockid_t clock) {
  timespec time{};
  INVARIANT(clock_gettime(clock, &time) == 0, "this clock cannot be read");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Instant read_clock(ClockKind kind) {
  return Instant(time_on(kind == ClockKind::monotonic ? CLOCK_MONOTONIC : CLOCK_BOOTTIME));
}

WallTime read_wall_clock() {
  return WallTime(time_on(CLOCK_REALTIME));
}

Now read_now() {
  return {read_clock(ClockKind::monotonic), read_wall_clock()};
}

}  // namespace redlock::net
