// When a command must be stopped, and when it must be dead, unless its lock is extended (rule H1):
// the guard process's decisions, without a clock or a process.
//
//     holds --stop_at is past, or stop_by()--> stopping --kill_at is past--> killing
//
// `stop_at` is told at each call, as it moves on with each extension of the lock. Once it has
// passed unmoved the lock counts as lost, and no later word brings it back: the command has been
// told to end.
//
// Times are on CLOCK_BOOTTIME (rule C3).
#pragma once

#include "base/time.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

class DeadMansSwitch {
 public:
  enum class Deed { none, stop, kill };

  // kill_after: what the command gets for its own ending, between `stop_at` and SIGKILL.
  explicit DeadMansSwitch(Duration kill_after) : kill_after_(kill_after) {}

  // The loop's own word: stop now, kill at this instant. Asked again, the earlier instant counts,
  // and the signal is not sent again.
  void stop_by(Instant kill_at) {
    if (!stopping_) stop_is_due_ = true;
    stopping_ = true;
    kill_at_ = std::min(kill_at_, kill_at);
  }

  // The next deed, each once; none when nothing is due. A stop that comes too late for the command
  // to do anything is left out: it is killed at once.
  Deed due(Instant now, Instant stop_at) {
    if (!stopping_ && now >= stop_at) {
      is_overdue_ = true;
      stop_by(later(stop_at, kill_after_));
    }
    if (killing_) return Deed::none;
    if (stopping_ && now >= kill_at_) {
      killing_ = true;
      return Deed::kill;
    }
    return std::exchange(stop_is_due_, false) ? Deed::stop : Deed::none;
  }

  // When due() wants to be asked next; kNever when it has nothing more to say.
  Instant next_look(Instant stop_at) const {
    if (killing_) return kNever;
    return stopping_ ? kill_at_ : stop_at;
  }

  bool is_stopping() const { return stopping_; }
  bool is_killing() const { return killing_; }
  // Whether it was not the loop that said so.
  bool is_overdue() const { return is_overdue_; }

 private:
  Duration kill_after_;
  Instant kill_at_ = kNever;
  bool stopping_ = false;
  bool stop_is_due_ = false;
  bool killing_ = false;
  bool is_overdue_ = false;
};

}  // namespace redlock::coordinator
