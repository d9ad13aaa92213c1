// How long a holder may rely on its lock (rule Q2): plain arithmetic, no clock.
//
// All times are the holder's own (CLOCK_BOOTTIME, rule C3); `start` was read before the first byte
// of the request was written, so whatever the network did is on the safe side of it.
#pragma once

#include "base/time.h"

namespace redlock::coordinator {

// What the drift bound leaves for rounding: nodes count whole milliseconds.
inline constexpr Duration kRoundingAllowance = 2ms;

// TTL × drift bound + 2 ms: what clocks of different rates may cost (rule C1).
constexpr Duration drift_allowance(Duration ttl, double clock_drift) {
  return stretch(ttl, clock_drift) - ttl + kRoundingAllowance;
}

// The instant at which a lock that was asked for at `start` must no longer be relied on. Not after
// `start` when the TTL is too short to be of any use.
constexpr Instant validity_end(Instant start, Duration ttl, double clock_drift) {
  return later(start, ttl - drift_allowance(ttl, clock_drift));
}

}  // namespace redlock::coordinator
