// Time as the pure parts see it: always an argument, never asked for.
//
// Instant has no now(): its clock is a tag without a way to read it, so code that is to be
// simulated cannot read a clock by accident. Only base/net/turn/clock.h makes Instants from a real
// one. Monotonic and wall time are different types and do not mix (rule C2, C6).
//
// Units: all three count nanoseconds in 64 bits (292 years). Arithmetic that a client's number
// can reach goes through `later`, which saturates instead of overflowing.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace redlock {

using namespace std::chrono_literals;

using Duration = std::chrono::nanoseconds;

// The clock a process counts with: CLOCK_MONOTONIC in a node (C2), CLOCK_BOOTTIME in a holder (C3).
struct MonotonicClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicClock>;
  static constexpr bool is_steady = true;
};

// Days and dates: for log lines and for EXAT, PXAT on receipt (C6), for nothing else.
struct WallClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WallClock>;
  static constexpr bool is_steady = false;
};

using Instant = MonotonicClock::time_point;
using WallTime = WallClock::time_point;  // since 1970-01-01 00:00:00 UTC

// The deadline of a key that has none.
inline constexpr Instant kNever = Instant::max();

// One reading of both clocks: what `now` means for a request (C4).
struct Now {
  Instant monotonic;
  WallTime wall;
};

// start + length, or kNever where that would overflow.
constexpr Instant later(Instant start, Duration length) {
  if (length.count() > 0 && start.time_since_epoch().count() >
                                std::numeric_limits<std::int64_t>::max() - length.count()) {
    return kNever;
  }
  return start + length;
}

// When the first of two pieces of work is due; nullopt: there is none.
constexpr std::optional<Instant> earlier(std::optional<Instant> one, std::optional<Instant> other) {
  if (!one || !other) return one ? one : other;
  return *one < *other ? one : other;
}

// Whole milliseconds, rounded up: what is left of a lock is never told as less than it is (C2).
constexpr std::int64_t ceil_ms(Duration d) {
  return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}

constexpr std::int64_t floor_ms(Duration d) {
  return std::chrono::floor<std::chrono::milliseconds>(d).count();
}

// The largest drift bound that can be set (C1): of two clocks one runs half as fast again.
inline constexpr double kClockDriftMax = 0.5;

// length × (1 + ratio), rounded up; saturates. ratio is small and not negative:
// the drift bound (C1).
constexpr Duration stretch(Duration length, double ratio) {
  const double extra = static_cast<double>(length.count()) * ratio;
  const auto room = static_cast<double>((Duration::max() - length).count());
  if (extra >= room) return Duration::max();
  const auto whole = static_cast<std::int64_t>(extra);
  return length + Duration(whole) + Duration(static_cast<double>(whole) < extra ? 1 : 0);
}

}  // namespace redlock
