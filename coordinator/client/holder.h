// What a holder of locks has for itself: its clock, and the secret by which the nodes know it.
#pragma once

#include "base/net/turn/clock.h"
#include "coordinator/group/suspend_watch.h"

#include <string>

namespace redlock::coordinator {

// A holder's clock (rule C3): what valid_until is counted on.
inline Instant holder_now() {
  return net::read_clock(net::ClockKind::boottime);
}

// Both of a holder's clocks, close enough together for a SuspendWatch.
ClockReading read_holder_clocks();

// A new value for an attempt: 18 random bytes of the system's generator as 24 characters that need
// no quotes anywhere (rule Q6).
std::string new_lock_value();

}  // namespace redlock::coordinator
