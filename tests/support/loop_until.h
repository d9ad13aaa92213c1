// Runs a loop until something has come about that its callbacks bring.
//
//   CHECK(run_loop_until(loop, [&] { return client.ended; }, 10s));
#pragma once

#include "base/net/turn/clock.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"

namespace redlock::net {

// False: it has not within that time. It is looked at each millisecond.
template <class Condition>
bool run_loop_until(Loop& loop, const Condition& is_met, Duration within) {
  const Instant end = read_clock(ClockKind::monotonic) + within;
  Timer look(loop, ClockKind::monotonic, [&] { loop.stop(); });
  while (!is_met() && read_clock(ClockKind::monotonic) < end) {
    look.set(read_clock(ClockKind::monotonic) + 1ms);
    loop.run();
  }
  return is_met();
}

}  // namespace redlock::net
