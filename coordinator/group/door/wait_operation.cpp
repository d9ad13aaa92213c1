#include "coordinator/group/door/wait_operation.h"

#include <utility>

namespace redlock::coordinator {

WaitOperation::WaitOperation(GroupParts& group, const WaitRequest& wanted, Instant now, Done done)
    : Operation(group),
      next_(group.waits, group.tickets, wanted.name, {.wait = wanted.wait}, now, wanted.ticket),
      ends_at_(later(now, wanted.wait)),
      after_(wanted.has_failed ? AcquisitionOutcome::no_quorum : AcquisitionOutcome::held),
      done_(std::move(done)) {}

void WaitOperation::start(Instant now) {
  next_.begin(now);
  const bool waits = next_.after(after_, false, id(), now, group().random);
  if (!waits) outcome_ = WaitOutcome::over;
}

void WaitOperation::on_time(Instant now) {
  if (finished() || now < *next_.when()) return;
  outcome_ = next_.has_turn() ? WaitOutcome::free
             : now < ends_at_ ? WaitOutcome::look
                              : WaitOutcome::over;
  next_.leave(now);
}

}  // namespace redlock::coordinator
