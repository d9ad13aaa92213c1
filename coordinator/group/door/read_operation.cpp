#include "coordinator/group/door/read_operation.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

ReadOperation::ReadOperation(GroupParts& group, ReadRequest wanted, Done done)
    : Operation(group),
      wanted_(std::move(wanted)),
      claim_(std::make_shared<const Claim>(Claim{wanted_.name, {}})),
      done_(std::move(done)) {}

void ReadOperation::start(Instant now) {
  next_attempt();
  connections_.assign(group().links.size(), 0);
  machine_.emplace(group().terms(), wanted_.held_by, wanted_.wants_token);
  machine_->start(now, actions_);
  perform(std::exchange(actions_, {}), {.kind = RequestKind::read, .claim = claim_}, now);
}

void ReadOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  if (machine_->finished()) return;
  note_answer(node, completion.answer);
  connections_[node] = group().links[node].connection();
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
  const bool is_unsettled = machine_->verdict() == ReadVerdict::unsettled;
  if (is_unsettled && finishes_ < kFinishesMax) return finish_replacement(now);
  const bool may_stay = machine_->verdict() == ReadVerdict::no_quorum && !has_stayed_;
  if (!may_stay || !is_change_under_way(machine_->answers())) return;
  has_stayed_ = true;
  stays_until_ = later(now, kChangeTimeMax);
}

// Nobody listens to what comes of it: the next reading, which is behind it on each connection, sees
// that. Only the node that told a value is asked to replace it, in the life in which it did.
void ReadOperation::finish_replacement(Instant now) {
  ++finishes_;
  const auto& readings = machine_->readings();
  for (const NodeIndex node : machine_->behind()) {
    Link& link = group().links[node];
    if (!link.is_ready() || link.connection() != connections_[node]) continue;
    link.send({.kind = RequestKind::replace,
               .claim = std::make_shared<const Claim>(
                   Claim{wanted_.name, readings[node]->value, {}, machine_->value()}),
               .ttl = std::max<Duration>(machine_->left(), 1ms),
               .meant_for = whom(node)},
              now);
  }
  withdraw_unanswered();
  start(now);
}

void ReadOperation::withdraw_unanswered() {
  for (NodeIndex node = 0; node < machine_->answers().size(); ++node) {
    if (machine_->answers()[node].kind == AnswerKind::none) withdraw(node);
  }
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
  withdraw_unanswered();
  ReadResult result{.verdict = machine_->verdict(), .began = machine_->start()};
  if (result.verdict == ReadVerdict::unsettled) result.verdict = ReadVerdict::possible;
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
