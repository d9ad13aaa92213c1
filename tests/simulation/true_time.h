// True time: the world's own, which no process can read. What the checks speak of (safety.md §1).
#pragma once

#include "base/time.h"

namespace redlock::simulation {

struct TrueClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<TrueClock>;
  static constexpr bool is_steady = true;
};

using TrueTime = TrueClock::time_point;  // since the world's beginning

// What a wall clock that is right shows at the world's beginning.
inline constexpr WallTime kFirstWallTime{std::chrono::seconds(1'700'000'000)};
inline constexpr TrueTime kEndOfTime = TrueTime::max();

}  // namespace redlock::simulation
