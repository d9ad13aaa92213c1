// A holder's doubt about its own clocks (rule C3).
//
// The validity is counted on CLOCK_BOOTTIME, which goes on through a suspend; CLOCK_MONOTONIC
// stands still meanwhile. So the machine slept when their difference grew, and something is broken
// when either goes back. In both cases the holder treats its lock as lost: what it did around that
// moment was not done under its eyes.
#pragma once

#include "base/time.h"

#include <optional>

namespace redlock::coordinator {

// Read boottime first and monotonic right after it: a pause between the two then makes their
// difference smaller, which looks like nothing at all.
struct ClockReading {
  Instant boottime;
  Instant monotonic;

  Duration difference() const { return boottime - monotonic; }
};

class SuspendWatch {
 public:
  // What two readings may differ by without a suspend: pauses between the two clocks.
  static constexpr Duration kTolerance = 20ms;

  explicit SuspendWatch(const ClockReading& first) : first_(first), last_(first) {}

  // Once false, always false.
  bool trusts(const ClockReading& reading) {
    const bool went_back = reading.boottime < last_.boottime || reading.monotonic < last_.monotonic;
    const bool slept = reading.difference() > first_.difference() + kTolerance;
    if (went_back || slept) trusted_ = false;
    last_ = reading;
    return trusted_;
  }

 private:
  ClockReading first_;
  ClockReading last_;
  bool trusted_ = true;
};

}  // namespace redlock::coordinator
