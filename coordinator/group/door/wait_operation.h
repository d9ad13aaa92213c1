// WaitOperation: until a lock seems to be free (rule Q7), for somebody who makes the attempt, or
// the reading, by other means.
//
// It stands in the queue of the lock's waiters as an operation does whose attempt found the lock
// held. When it would try again it is over, and whoever waits has its place, amid an attempt: nodes
// that have not called it yet do so, and call nobody else before.
#pragma once

#include "coordinator/group/operation.h"

namespace redlock::coordinator {

class WaitOperation : public Operation {
 public:
  using Done = std::function<void(WaitResult)>;
  WaitOperation(GroupParts& group, const WaitRequest& wanted, Instant now, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex, Completion&&, Instant) override {}
  void on_time(Instant now) override;
  void on_wake(Instant now) override { next_.look(now, group().random); }
  void cancel(Instant now) override { next_.leave(now); }
  std::optional<Instant> next_deadline() const override { return next_.when(); }
  bool finished() const override { return result_.has_value(); }
  void tell() override { done_(*result_); }

 private:
  NextAttempt next_;
  Instant ends_at_;
  AcquisitionOutcome after_;  // what the attempt before came to
  Done done_;
  std::optional<WaitResult> result_;
};

}  // namespace redlock::coordinator
