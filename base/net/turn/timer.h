// A timer with the resolution and on the clock of the decisions it serves.
//
// libuv's own timers count the loop's cached milliseconds; deadlines here are nanoseconds of
// CLOCK_MONOTONIC or CLOCK_BOOTTIME. A timerfd on that very clock wakes the loop within
// microseconds of an absolute instant, and never early. For an instant that is past no alarm is
// set, which would cost an interrupt: the loop's next turn does not wait, and fires it.
#pragma once

#include "base/net/turn/clock.h"
#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"
#include "base/time.h"
#include <redlock/result.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace redlock::net {

// What a timer takes of the system, watched by its loop: had beforehand where its lack must not end
// the process.
class TimerDescriptor {
 public:
  static Result<std::unique_ptr<TimerDescriptor>> open(Loop& loop, ClockKind clock);
  // For a program of ours, which ends without.
  static std::unique_ptr<TimerDescriptor> demand(Loop& loop, ClockKind clock);
  ~TimerDescriptor();
  TimerDescriptor(const TimerDescriptor&) = delete;
  TimerDescriptor& operator=(const TimerDescriptor&) = delete;

  ClockKind clock() const { return clock_; }

 private:
  friend class Timer;
  TimerDescriptor(int descriptor, ClockKind clock) : clock_(clock), fd_(descriptor) {}

  const ClockKind clock_;
  const int fd_;
  Handle<uv_poll_t> poll_;
};

class Timer {
 public:
  // `fire` runs on the loop at or after the instant that was set, once for each set().
  Timer(Loop& loop, ClockKind clock, std::function<void()> fire)
      : Timer(loop, TimerDescriptor::demand(loop, clock), std::move(fire)) {}
  // The descriptor's loop and clock.
  Timer(Loop& loop, std::unique_ptr<TimerDescriptor> descriptor, std::function<void()> fire);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces what was set before; nullopt disarms. Setting the same instant again costs nothing. It
  // never fires from in here.
  void set(std::optional<Instant> when);
  std::optional<Instant> when() const { return when_; }

  // An armed timer keeps Loop::run() going unless told otherwise.
  void keep_loop_alive(bool keep);

 private:
  void set_alarm(std::optional<Instant> when);
  void set_at_once(bool on);
  void fire();

  const std::unique_ptr<TimerDescriptor> descriptor_;
  std::function<void()> fire_;
  std::optional<Instant> when_;
  bool has_alarm_ = false;
  Handle<uv_idle_t> at_once_;  // does not keep the loop alive
};

}  // namespace redlock::net
