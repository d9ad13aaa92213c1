#include "coordinator/group/door/read_operation.h"

#include <utility>

namespace redlock::coordinator {

ReadOperation::ReadOperation(GroupParts& group, ReadRequest wanted, Done done)
    : Operation(group),
      wanted_(std::move(wanted)),
      claim_(std::make_shared<const Claim>(Claim{wanted_.name, {}})),
      done_(std::move(done)) {}

void ReadOperation::start(Instant now) {
  next_attempt();
  machine_.emplace(group().terms(), wanted_.holder_of, wanted_.wants_token);
  machine_->start(now, actions_);
  perform(std::exchange(actions_, {}), {.kind = RequestKind::read, .claim = claim_}, now);
}

void ReadOperation::on_answer(NodeIndex node, Completion completion, Instant now) {
  if (machine_->finished()) return;
  note_answer(node, completion.answer);
  std::optional<NodeReading> told;
  if (completion.answer.kind == AnswerKind::yes) told = read_holder(completion.reply);
  machine_->on_answer(node, std::move(completion.answer), std::move(told), now);
  after_machine(now);
}

void ReadOperation::on_time(Instant now) {
  if (stays_until_) {
    if (now >= *stays_until_) stays_until_.reset();
    return;
  }
  machine_->on_time(now);
  after_machine(now);
}

void ReadOperation::after_machine(Instant now) {
  const bool may_stay = machine_->verdict() == ReadVerdict::no_quorum && !has_stayed_;
  if (!may_stay || !is_change_under_way(machine_->answers())) return;
  has_stayed_ = true;
  stays_until_ = later(now, kChangeTimeMax);
}

void ReadOperation::leave_nodes(Instant) {
  next_attempt();
}

void ReadOperation::on_nodes_changed(Instant now) {
  Operation::on_nodes_changed(now);
  stays_until_.reset();
  start(now);
}

std::optional<Instant> ReadOperation::next_deadline() const {
  return stays_until_ ? stays_until_ : machine_->next_deadline();
}

void ReadOperation::tell() {
  for (NodeIndex node = 0; node < machine_->answers().size(); ++node) {
    if (machine_->answers()[node].kind == AnswerKind::none) withdraw(node);
  }
  ReadResult result{.verdict = machine_->verdict(), .began = machine_->start()};
  if (result.verdict == ReadVerdict::held || result.verdict == ReadVerdict::possible) {
    result.value = machine_->value();
    result.left = machine_->left();
    result.token = machine_->token();
  }
  result.readings = machine_->readings();
  result.answers = machine_->answers();
  done_(std::move(result));
}

}  // namespace redlock::coordinator
