// NextAttempt: when an operation that wants a lock tries again. On the nodes' word where they give
// it (lock_waits.h), by polling else (retry.h): one place that decides between the two.
//
//   next.begin(now);                             // an attempt begins
//   if (!next.after(outcome, …, now, random)) …  // it failed: when() has the next one, or give up
//   next.look(now, random);                      // the waits have news: when() may have changed
//   next.leave(now, granted);                    // the lock was got, or is not wanted any more
#pragma once

#include "coordinator/group/lock_waits.h"
#include "coordinator/group/retry.h"

#include <functional>
#include <optional>
#include <string>

namespace redlock::coordinator {

class NextAttempt {
 public:
  // What nodes are shown of whoever begins to wait now; nullopt: nothing.
  using Tickets = std::function<std::optional<WaitTicket>()>;

  // `waits` and `tickets` outlive it. `start`: when the caller began to want the lock.
  // shown: in place of a ticket of its own. place: where it stands already, amid an attempt.
  NextAttempt(LockWaits& waits, const Tickets& tickets, std::string name, Patience patience,
              Instant start, std::optional<WaitTicket> shown = {}, LockWaits::Ticket place = 0);

  // Also of one that is under way: it is begun anew, as the nodes have changed.
  void begin(Instant now);
  // False: the caller's patience is over. denied: the nodes that said that it is held.
  bool after(AcquisitionOutcome outcome, bool split_vote, OperationId operation, Instant now,
             Random& random, NodeSet denied = {});
  // In place of its first attempt, where others of this process wait for the lock already: they
  // came earlier. False: nobody does, or the caller has no patience.
  bool stands_behind(OperationId operation, Instant now, Random& random);
  void look(Instant now, Random& random);
  const std::string& name() const { return name_; }
  void leave(Instant now, NodeSet granted = {});
  // Begins an attempt that somebody else makes, and lets him have the place.
  LockWaits::Ticket give_place(Instant now);

  // nullopt: an attempt is under way, or there will be none. kNever: when a wake comes.
  std::optional<Instant> when() const { return when_; }
  // The next attempt is made on the nodes' word.
  bool has_turn() const { return has_turn_; }

 private:
  LockWaits& waits_;
  const Tickets& tickets_;
  std::string name_;
  Retry retry_;
  // Both last across attempts, also those that end in another way: nobody goes to the end for a
  // vote that it lost.
  LockWaits::Ticket ticket_ = 0;
  std::optional<WaitTicket> shown_;
  bool stands_ = false;  // in the queue
  std::optional<Instant> when_;
  Instant began_{};      // the attempt
  Duration took_ = 0ns;  // the last one
  bool has_turn_ = false;
  bool covered_ = false;  // as of the last look
};

}  // namespace redlock::coordinator
