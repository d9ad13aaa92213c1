// The one place where a clock is read. Shells call it and hand the reading on.
#pragma once

#include "base/time.h"

namespace redlock::net {

enum class ClockKind {
  monotonic,  // a node's clock: stands still while the machine is suspended, so it is only late
              // (C2)
  boottime,   // a holder's clock: goes on through a suspend (C3)
};

Instant read_clock(ClockKind kind);
// What valid_until is counted on (C3), and whatever a coordinator waits for.
inline Instant holder_now() {
  return read_clock(ClockKind::boottime);
}
WallTime read_wall_clock();

// For a node's request: read after the read(2) that brought its last byte (C4).
Now read_now();

}  // namespace redlock::net
