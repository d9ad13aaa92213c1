#include "coordinator/group/late_answers.h"

#include "base/invariant.h"

namespace redlock::coordinator {

std::optional<NodeRequest> TopUp::request(NodeIdentity node, Instant now) const {
  if (now >= ends_at) return std::nullopt;
  return NodeRequest{.kind = RequestKind::extend,
                     .claim = claim,
                     .ttl = ends_at - now,
                     .tops_up = true,
                     .token = token,
                     .meant_for = node};
}

void LateAnswers::expect_grants(OperationId operation, const HeldLock& lock,
                                const NodeSet& missing) {
  if (missing.none()) return;
  entries_[operation] = {Duty::confirm, RequestKind::acquire, lock, lock.valid_until, missing};
}

void LateAnswers::begin_extension(OperationId operation, const SharedClaim& claim) {
  Extensions& extensions = extensions_[claim->value];
  extensions.newest = operation;
  ++extensions.open;
}

void LateAnswers::end_extension(OperationId operation, const HeldLock& lock, bool has_failed,
                                Instant holds_until, const NodeSet& missing) {
  const std::string& value = lock.claim->value;
  if (!has_failed) extensions_[value].topped_up.clear();
  if (missing.none()) return close_extension(value);
  entries_[operation] = {has_failed ? Duty::release : Duty::none, RequestKind::extend, lock,
                         holds_until, missing};
}

void LateAnswers::correct_answer(const std::string& value, Answer& answer) {
  if (answer.kind != AnswerKind::yes) return;
  std::set<NodeIdentity>& topped_up = extensions_[value].topped_up;
  if (answer.topped_up) topped_up.insert(answer.from);
  answer.topped_up = topped_up.contains(answer.from);
}

void LateAnswers::forget_top_up(NodeIdentity node, const std::string& value) {
  extensions_[value].topped_up.erase(node);
}

bool LateAnswers::is_newest_extension(OperationId operation, const std::string& value) const {
  const auto found = extensions_.find(value);
  return found != extensions_.end() && found->second.newest == operation;
}

void LateAnswers::expect_lacks(OperationId operation, const TopUp& top_up, const NodeSet& missing) {
  if (missing.any()) lacks_[operation] = {top_up, missing};
}

void LateAnswers::close_extension(const std::string& value) {
  const auto found = extensions_.find(value);
  INVARIANT(found != extensions_.end(), "an extension ends that was not begun");
  if (--found->second.open == 0) extensions_.erase(found);
}

std::optional<NodeRequest> LateAnswers::on_answer(NodeIndex node, std::uint64_t connection,
                                                  const Completion& completion, Instant now) {
  const auto found = entries_.find(completion.operation);
  if (found == entries_.end()) return top_up_late(node, completion, now);
  if (found->second.question != completion.kind) return std::nullopt;
  Entry& entry = found->second;
  if (!entry.missing.test(node)) return std::nullopt;
  entry.missing.reset(node);
  note_witness(node, connection, entry, completion.answer, now);
  std::optional<NodeRequest> request = carry_out(entry, completion, now);
  if (!request) note_late_extension(entry, completion.answer);
  if (entry.missing.any()) return request;
  if (entry.question == RequestKind::extend) close_extension(entry.lock.claim->value);
  entries_.erase(found);
  return request;
}

std::optional<NodeRequest> LateAnswers::top_up_late(NodeIndex node, const Completion& completion,
                                                    Instant now) {
  const auto found = lacks_.find(completion.operation);
  if (found == lacks_.end() || !found->second.missing.test(node)) return std::nullopt;
  std::optional<NodeRequest> request;
  if (completion.answer.is_lacking && now < found->second.top_up.asked_by) {
    request = found->second.top_up.request(completion.answer.from, now);
  }
  found->second.missing.reset(node);
  if (found->second.missing.none()) lacks_.erase(found);
  return request;
}

void LateAnswers::note_witness(NodeIndex node, std::uint64_t connection, const Entry& entry,
                               const Answer& answer, Instant now) {
  if (!entry.lock.witnesses) return;
  if (answer.kind == AnswerKind::no) entry.lock.witnesses->note_lack(node, connection, now);
  // A yes of an extension that failed may be to a top-up that is undone yet.
  const bool holds = answer.kind == AnswerKind::yes && !answer.topped_up;
  if (!holds || entry.duty == Duty::release) return;
  entry.lock.witnesses->note(node, connection, entry.holds_until);
}

// What a node holds by an extension that succeeded it holds; what it was given by one that failed,
// and was left, it was topped up with.
void LateAnswers::note_late_extension(const Entry& entry, const Answer& answer) {
  if (entry.question != RequestKind::extend || answer.kind != AnswerKind::yes) return;
  std::set<NodeIdentity>& topped_up = extensions_[entry.lock.claim->value].topped_up;
  if (entry.duty == Duty::none) topped_up.erase(answer.from);
  if (entry.duty == Duty::release && answer.topped_up) topped_up.insert(answer.from);
}

std::optional<NodeRequest> LateAnswers::carry_out(const Entry& entry, const Completion& completion,
                                                  Instant now) const {
  const Answer& answer = completion.answer;
  if (answer.kind != AnswerKind::yes) return std::nullopt;
  if (entry.duty == Duty::confirm && answer.token < entry.lock.token) {
    return NodeRequest{.kind = RequestKind::confirm,
                       .claim = entry.lock.claim,
                       .token = entry.lock.token,
                       .meant_for = answer.from};
  }
  const bool is_for_nothing = entry.duty == Duty::release && answer.topped_up &&
                              is_newest_extension(completion.operation, entry.lock.claim->value);
  if (!is_for_nothing) return std::nullopt;
  return NodeRequest{.kind = RequestKind::release,
                     .claim = entry.lock.claim,
                     .worth_until = later(now, entry.lock.ttl)};
}

}  // namespace redlock::coordinator
