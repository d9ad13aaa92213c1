#include "coordinator/group/door/wait_operation.h"

#include <utility>

namespace redlock::coordinator {

WaitOperation::WaitOperation(GroupParts& group, const WaitRequest& wanted, Instant now, Done done)
    : Operation(group),
      next_(group.waits, group.tickets, wanted.name, {.wait = wanted.wait}, now, wanted.ticket,
            wanted.place),
      ends_at_(later(now, wanted.wait)),
      after_(wanted.has_failed ? AcquisitionOutcome::no_quorum : AcquisitionOutcome::held),
      done_(std::move(done)) {}

void WaitOperation::start(Instant now) {
  next_.begin(now);
  if (!next_.after(after_, false, id(), now, group().random)) result_ = {WaitOutcome::over};
}

void WaitOperation::on_time(Instant now) {
  if (finished() || now < *next_.when()) return;
  if (next_.has_turn()) {
    result_ = {WaitOutcome::free, next_.give_place(now)};
    return;
  }
  result_ = {now < ends_at_ ? WaitOutcome::look : WaitOutcome::over};
  next_.leave(now);
}

}  // namespace redlock::coordinator
