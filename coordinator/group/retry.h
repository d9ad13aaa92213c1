// When to try again for a lock that was not got, and when to give up.
#pragma once

#include "base/random.h"
#include "base/time.h"
#include "coordinator/quorum/acquisition.h"

#include <optional>

namespace redlock::coordinator {

// How long a caller is ready to wait for a lock.
struct Patience {
  // nullopt: for ever. 0: one attempt.
  std::optional<Duration> wait = Duration(0);
  // Tries again only while the votes are split: a lock that another holds is told at once.
  bool splits_only = false;
};

// A wait for ever ends all the same after so long without a quorum, or one of nodes that give
// tokens: nobody is served by a command that hangs because its nodes are gone.
inline constexpr Duration kPatienceWithoutQuorum = 10s;

// A held lock is looked at again after a random time of this window.
inline constexpr Duration kRetryWindow = 100ms;
inline constexpr Duration kRetryDelayMin = 5ms;
// Each split vote in a row doubles the window, up to this many times: the more want it at once, the
// further apart they must come back for one of them to get a quorum.
inline constexpr unsigned kRetryDoublingsMax = 5;
// A lock that the nodes called free is tried for after a random time of this window, where all of
// its waiters were told at once: short, as the waiter shall have it soon. After a split vote the
// window is wide enough to let the others' attempts end, and doubles with each more.
//
// Who was called alone tries at once, also after a split vote: those that it met there are called
// only when it lets its time pass. Only where the nodes keep calling several, the window opens.
inline constexpr Duration kWakeWindow = 1ms;

class Retry {
 public:
  // `start`: when the caller began to want it.
  Retry(Patience patience, Instant start);

  // After an attempt that failed at `now`: when to make the next one, or nullopt: give up, with the
  // last attempt's outcome.
  std::optional<Instant> after(AcquisitionOutcome outcome, bool split_vote, Instant now,
                               Random& random);
  // When to make the next attempt now that the nodes said that the lock is free, or that nobody got
  // a quorum of it. took: how long the last attempt took, so that the window fits these nodes.
  // is_alone: nobody else was told.
  Instant after_wake(Instant now, Duration took, Random& random, bool is_alone = false);
  bool is_for_splits_only() const { return patience_.splits_only; }
  // The nodes could be relied on to tell, up to now, and cannot any more: when to look.
  Instant poll(Instant now, Random& random);
  // The last attempt is made when the wait is over, not before; kNever: there is no such time.
  Instant last_attempt() const { return patience_.wait ? later(start_, *patience_.wait) : kNever; }

 private:
  Duration delay(Random& random) const;

  Patience patience_;
  Instant start_;
  Instant last_quorum_;
  unsigned split_votes_ = 0;  // in a row
};

}  // namespace redlock::coordinator
