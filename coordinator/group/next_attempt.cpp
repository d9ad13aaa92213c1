#include "coordinator/group/next_attempt.h"

#include <utility>

namespace redlock::coordinator {

NextAttempt::NextAttempt(LockWaits& waits, std::string name, Patience patience, Instant start)
    : waits_(waits), name_(std::move(name)), retry_(patience, start) {}

void NextAttempt::begin(Instant now) {
  const bool is_anew = !std::exchange(when_, std::nullopt);
  began_ = now;
  has_turn_ = false;
  if (ticket_ != 0 && !is_anew) waits_.attempt(name_, ticket_);
}

// Only a lock that is held is waited for. Nodes that do not answer, or too late, are asked again as
// they always were: what they would tell of the lock is not what is missing.
bool NextAttempt::after(AcquisitionOutcome outcome, bool split_vote, OperationId operation,
                        Instant now, Random& random) {
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
  ticket_ = waits_.wait(name_, ticket_, operation, retry_.last_attempt(), now);
  look(now, random);
  return true;
}

void NextAttempt::look(Instant now, Random& random) {
  if (ticket_ == 0 || !when_ || has_turn_) return;
  const bool was_covered = std::exchange(covered_, waits_.is_covered(name_));
  if (waits_.is_turn(name_, ticket_)) {
    has_turn_ = true;
    when_ = retry_.after_wake(now, took_, random);
  } else if (covered_) {
    when_ = retry_.last_attempt();
  } else if (was_covered) {
    when_ = retry_.poll(now, random);
  }
}

void NextAttempt::leave(Instant now) {
  if (ticket_ != 0) waits_.leave(name_, std::exchange(ticket_, 0), now);
}

}  // namespace redlock::coordinator
