// Stopwatch: how the node learns how long a command took. It reads no clock itself, so the shell
// hands it one; an empty one times nothing.
//
// Only commands whose time grows with their input are timed (Observers): SET and GET take a
// microsecond, of which two readings of a clock would be a part that shows.
#pragma once

#include "base/time.h"

#include <functional>

namespace redlock::server {

using Stopwatch = std::function<Instant()>;

}  // namespace redlock::server
