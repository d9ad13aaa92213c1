// NextAttempt: when an operation that wants a lock tries again. On the nodes' word where they give
// it (lock_waits.h), by polling else (retry.h): one place that decides between the two.
//
//   next.begin(now);                             // an attempt begins
//   if (!next.after(outcome, …, now, random)) …  // it failed: when() has the next one, or give up
//   next.look(now, random);                      // the waits have news: when() may have changed
//   next.leave(now);                             // the lock was got, or is not wanted any more
#pragma once

#include "coordinator/group/lock_waits.h"
#include "coordinator/group/retry.h"

#include <optional>
#include <string>

namespace redlock::coordinator {

class NextAttempt {
 public:
  // `waits` outlives it. `start`: when the caller began to want the lock.
  NextAttempt(LockWaits& waits, std::string name, Patience patience, Instant start);

  // Also of one that is under way: it is begun anew, as the nodes have changed.
  void begin(Instant now);
  // False: the caller's patience is over.
  bool after(AcquisitionOutcome outcome, bool split_vote, OperationId operation, Instant now,
             Random& random);
  void look(Instant now, Random& random);
  void leave(Instant now);

  // nullopt: an attempt is under way, or there will be none. kNever: when a wake comes.
  std::optional<Instant> when() const { return when_; }
  // The next attempt is made on the nodes' word.
  bool has_turn() const { return has_turn_; }

 private:
  LockWaits& waits_;
  std::string name_;
  Retry retry_;
  LockWaits::Ticket ticket_ = 0;
  std::optional<Instant> when_;
  Instant began_{};      // the attempt
  Duration took_ = 0ns;  // the last one
  bool has_turn_ = false;
  bool covered_ = false;  // as of the last look
};

}  // namespace redlock::coordinator
