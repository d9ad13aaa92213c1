// A change of the group's roster over its links: roster_change.h decides, this asks.
#include "coordinator/group/operation.h"

namespace redlock::coordinator {

ChangeOperation::ChangeOperation(GroupParts& group, RosterChange::Plan plan, Done done)
    : Operation(group), machine_(std::move(plan)), done_(std::move(done)) {}

void ChangeOperation::start(Instant now) {
  machine_.start(now, actions_);
  after_machine(now);
}

void ChangeOperation::on_answer(NodeIndex node, Completion completion, Instant now) {
  note_answer(node, completion.answer);
  const NodeIdentity member = group().links[node].member_identity();
  machine_.on_answer(node, member, std::move(completion.answer), completion.reply, now, actions_);
  after_machine(now);
}

void ChangeOperation::on_time(Instant now) {
  machine_.on_time(now, actions_);
  after_machine(now);
}

// A step begins anew: answers to the one before are for nobody.
void ChangeOperation::after_machine(Instant now) {
  if (actions_.empty()) return;
  next_attempt();
  perform(actions_, machine_.question(), now);
  actions_.clear();
}

void ChangeOperation::tell() {
  done_(machine_);
}

}  // namespace redlock::coordinator
