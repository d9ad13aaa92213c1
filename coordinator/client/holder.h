// What a holder of locks has for itself: its clock, and the secret by which the nodes know it.
#pragma once

#include "base/net/process/system_random.h"
#include "base/net/turn/clock.h"
#include "coordinator/group/suspend_watch.h"

#include <string>

namespace redlock::coordinator {

using net::holder_now;

// Both of a holder's clocks, close enough together for a SuspendWatch.
ClockReading read_holder_clocks();

// A new value for an attempt: 18 random bytes of the system's generator as 24 characters that need
// no quotes anywhere (rule Q6).
std::string new_lock_value();
// The same, drawn from a pool.
std::string new_lock_value(net::RandomPool& pool);

}  // namespace redlock::coordinator
