#include "coordinator/late_answers.h"

#include "base/invariant.h"

namespace redlock::coordinator {

void LateAnswers::expect_grants(OperationId operation, const SharedClaim& claim, Token token,
                                const NodeSet& missing) {
  if (missing.none()) return;
  entries_[operation] = {Duty::confirm, RequestKind::acquire, claim, token, 0ns, missing};
}

void LateAnswers::begin_extension(OperationId operation, const SharedClaim& claim) {
  Extensions& extensions = extensions_[claim->value];
  extensions.newest = operation;
  ++extensions.open;
}

void LateAnswers::end_extension(OperationId operation, const SharedClaim& claim, bool has_failed,
                                Duration ttl, const NodeSet& missing) {
  if (!has_failed) extensions_[claim->value].topped_up.reset();
  if (missing.none()) return close_extension(claim->value);
  entries_[operation] = {
      has_failed ? Duty::release : Duty::none, RequestKind::extend, claim, 0, ttl, missing};
}

void LateAnswers::correct_answer(NodeIndex node, const std::string& value, Answer& answer) {
  if (answer.kind != AnswerKind::yes) return;
  NodeSet& topped_up = extensions_[value].topped_up;
  if (answer.topped_up) topped_up.set(node);
  answer.topped_up = topped_up.test(node);
}

void LateAnswers::forget_top_up(NodeIndex node, const std::string& value) {
  extensions_[value].topped_up.reset(node);
}

bool LateAnswers::is_newest_extension(OperationId operation, const std::string& value) const {
  const auto found = extensions_.find(value);
  return found != extensions_.end() && found->second.newest == operation;
}

void LateAnswers::close_extension(const std::string& value) {
  const auto found = extensions_.find(value);
  INVARIANT(found != extensions_.end(), "an extension ends that was not begun");
  if (--found->second.open == 0) extensions_.erase(found);
}

std::optional<NodeRequest> LateAnswers::on_answer(NodeIndex node, const Completion& completion,
                                                  Instant now) {
  const auto found = entries_.find(completion.operation);
  if (found == entries_.end() || found->second.question != completion.kind) return std::nullopt;
  Entry& entry = found->second;
  if (!entry.missing.test(node)) return std::nullopt;
  entry.missing.reset(node);
  std::optional<NodeRequest> request = carry_out(entry, completion, now);
  if (!request) note_late_extension(node, entry, completion.answer);
  if (entry.missing.any()) return request;
  if (entry.question == RequestKind::extend) close_extension(entry.claim->value);
  entries_.erase(found);
  return request;
}

// What a node holds by an extension that succeeded it holds; what it was given by one that failed,
// and was left, it was topped up with.
void LateAnswers::note_late_extension(NodeIndex node, const Entry& entry, const Answer& answer) {
  if (entry.question != RequestKind::extend || answer.kind != AnswerKind::yes) return;
  NodeSet& topped_up = extensions_[entry.claim->value].topped_up;
  if (entry.duty == Duty::none) topped_up.reset(node);
  if (entry.duty == Duty::release && answer.topped_up) topped_up.set(node);
}

std::optional<NodeRequest> LateAnswers::carry_out(const Entry& entry, const Completion& completion,
                                                  Instant now) const {
  const Answer& answer = completion.answer;
  if (answer.kind != AnswerKind::yes) return std::nullopt;
  if (entry.duty == Duty::confirm && answer.token < entry.token) {
    return NodeRequest{.kind = RequestKind::confirm, .claim = entry.claim, .token = entry.token};
  }
  const bool is_for_nothing = entry.duty == Duty::release && answer.topped_up &&
                              is_newest_extension(completion.operation, entry.claim->value);
  if (!is_for_nothing) return std::nullopt;
  return NodeRequest{
      .kind = RequestKind::release, .claim = entry.claim, .worth_until = later(now, entry.ttl)};
}

}  // namespace redlock::coordinator
