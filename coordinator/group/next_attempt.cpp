#include "coordinator/group/next_attempt.h"

#include <utility>

namespace redlock::coordinator {

NextAttempt::NextAttempt(LockWaits& waits, const Tickets& tickets, std::string name,
                         Patience patience, Instant start, std::optional<WaitTicket> shown,
                         LockWaits::Ticket place)
    : waits_(waits),
      tickets_(tickets),
      name_(std::move(name)),
      retry_(patience, start),
      ticket_(place),
      shown_(shown),
      stands_(place != 0) {}

void NextAttempt::begin(Instant now) {
  const bool is_anew = !std::exchange(when_, std::nullopt);
  began_ = now;
  has_turn_ = false;
  if (stands_ && !is_anew) waits_.attempt(name_, ticket_);
}

// Only a lock that is held is waited for. Nodes that do not answer, or too late, are asked again as
// they always were: what they would tell of the lock is not what is missing.
bool NextAttempt::after(AcquisitionOutcome outcome, bool split_vote, OperationId operation,
                        Instant now, Random& random, NodeSet denied) {
  took_ = now - began_;
  when_ = retry_.after(outcome, split_vote, now, random);
  if (when_ && retry_.is_for_splits_only()) {
    when_ = retry_.after_wake(now, took_, random);
    return true;
  }
  if (!when_ || outcome != AcquisitionOutcome::held) {
    leave(now);
    return when_.has_value();
  }
  covered_ = false;
  if (!shown_ && tickets_) shown_ = tickets_();
  ticket_ = waits_.wait(name_, ticket_, operation, retry_.last_attempt(), now, {denied, shown_});
  stands_ = true;
  look(now, random);
  return true;
}

bool NextAttempt::stands_behind(OperationId operation, Instant now, Random& random) {
  const bool is_patient = !retry_.is_for_splits_only() && retry_.last_attempt() > now;
  if (!is_patient || !waits_.has_waiters(name_)) return false;
  if (!shown_ && tickets_) shown_ = tickets_();
  when_ = retry_.poll(now, random);
  ticket_ = waits_.stand_behind(name_, operation, retry_.last_attempt(), shown_, now);
  stands_ = true;
  look(now, random);
  return true;
}

void NextAttempt::look(Instant now, Random& random) {
  if (!stands_ || !when_ || has_turn_) return;
  const bool was_covered = std::exchange(covered_, waits_.is_covered(name_));
  if (waits_.is_turn(name_, ticket_)) {
    has_turn_ = true;
    when_ = retry_.after_wake(now, took_, random, waits_.is_called_alone(name_));
  } else if (covered_) {
    when_ = retry_.last_attempt();
  } else if (was_covered) {
    when_ = retry_.poll(now, random);
  }
}

void NextAttempt::leave(Instant now, NodeSet granted) {
  if (std::exchange(stands_, false)) waits_.leave(name_, ticket_, now, granted);
}

LockWaits::Ticket NextAttempt::give_place(Instant now) {
  begin(now);
  stands_ = false;
  return ticket_;
}

}  // namespace redlock::coordinator
