// Operations about the group itself: how far its links are, and who its nodes are to be.
#include "coordinator/group/operation.h"
#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

// --- when_ready

ReadyOperation::ReadyOperation(GroupParts& group, std::function<void()> done)
    : Operation(group), done_(std::move(done)) {}

void ReadyOperation::start(Instant now) {
  start_ = now;
  deadline_ = later(now, group().options.node_timeout);
  on_link_changed(now);
}

void ReadyOperation::on_time(Instant now) {
  if (now >= deadline_) ready_ = true;
}

void ReadyOperation::on_link_changed(Instant now) {
  const std::size_t connected = group().ready_links();
  if (group().settled.count() == group().links.size()) {
    deadline_ = now;
  } else if (connected >= quorum_of(group().links.size())) {
    deadline_ = std::min(deadline_, later(now, std::min(now - start_, kGraceMax)));
  }
}

// --- change: roster_change.h decides, this asks

ChangeOperation::ChangeOperation(GroupParts& group, Plan plan, Done done)
    : Operation(group), plan_(std::move(plan)), done_(std::move(done)) {}

void ChangeOperation::start(Instant now) {
  begin_by_ = later(now, group().options.node_timeout);
  on_link_changed(now);
}

void ChangeOperation::on_link_changed(Instant now) {
  if (!machine_ && group().settled.count() == group().links.size()) begin(now);
}

void ChangeOperation::begin(Instant now) {
  machine_.emplace(plan_());
  machine_->start(now, actions_);
  after_machine(now);
}

void ChangeOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  const NodeIdentity member = group().links[node].member_identity();
  machine_->on_answer(node, member, std::move(completion.answer), completion.reply, now, actions_);
  after_machine(now);
}

void ChangeOperation::on_time(Instant now) {
  if (machine_) {
    machine_->on_time(now, actions_);
    after_machine(now);
  } else if (now >= begin_by_) {
    begin(now);
  }
}

std::optional<Instant> ChangeOperation::next_deadline() const {
  return machine_ ? machine_->next_deadline() : begin_by_;
}

// A step begins anew: answers to the one before are for nobody.
void ChangeOperation::after_machine(Instant now) {
  if (actions_.empty()) return;
  next_attempt();
  perform(actions_, machine_->question(), now);
  actions_.clear();
}

void ChangeOperation::tell() {
  done_(*machine_);
}

}  // namespace redlock::coordinator
