#include "coordinator/quorum/extension.h"

#include "coordinator/quorum/validity.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

void Extension::start(Instant now, Actions& actions) {
  ballot_.open(now, terms_.node_timeout);
  if (now >= valid_until_) {
    outcome_ = ExtensionOutcome::lost;
    return;
  }
  ask_all(terms_.nodes, actions);
}

void Extension::on_answer(NodeIndex node, Answer answer, Instant now, Actions& actions) {
  if (finished() || !ballot_.record(node, std::move(answer), now)) return;
  decide(now, actions);
}

void Extension::on_time(Instant now, Actions& actions) {
  if (finished()) return;
  const bool timed_out = ballot_.time_out(now);
  if (timed_out || now >= valid_until_) decide(now, actions);
}

void Extension::abandon(Actions& actions) {
  if (!finished()) finish(ExtensionOutcome::abandoned, actions);
}

std::optional<Instant> Extension::next_deadline() const {
  if (finished()) return std::nullopt;
  return std::min(ballot_.deadline(), valid_until_);
}

void Extension::decide(Instant now, Actions& actions) {
  if (now >= valid_until_) return finish(ExtensionOutcome::lost, actions);
  const VoteCount& votes = ballot_.votes();
  if (votes.result() == VoteResult::pending) return;
  if (votes.result() == VoteResult::lost) {
    // Only the nodes that answered "not yours" prove a loss; silent ones may still have it.
    const bool proved = votes.no() > votes.nodes() - quorum_of(votes.nodes());
    if (!proved && terms_.hear_everyone && votes.outstanding() > 0) return;
    return finish(proved ? ExtensionOutcome::lost : ExtensionOutcome::no_quorum, actions);
  }
  if (!is_still_held()) {
    if (votes.outstanding() > 0) return;
    const bool proved = votes.yes() + votes.no() == votes.nodes();
    return finish(proved ? ExtensionOutcome::lost : ExtensionOutcome::no_quorum, actions);
  }
  const Instant renewed = validity_end(ballot_.start(), terms_.ttl, terms_.clock_drift);
  if (now >= renewed) return finish(ExtensionOutcome::no_quorum, actions);
  const bool was_known = valid_until_ != kNever;
  valid_until_ = was_known ? std::max(valid_until_, renewed) : renewed;
  finish(ExtensionOutcome::extended, actions);
}

bool Extension::is_still_held() const {
  const auto& answers = ballot_.answers();
  return std::any_of(answers.begin(), answers.end(), [](const Answer& answer) {
    return answer.kind == AnswerKind::yes && !answer.topped_up;
  });
}

void Extension::finish(ExtensionOutcome outcome, Actions& actions) {
  outcome_ = outcome;
  for (NodeIndex node = 0; node < ballot_.nodes(); ++node) {
    if (ballot_.is_silent(node)) actions.push_back({Action::Kind::withdraw, node});
    const bool is_for_nothing = outcome != ExtensionOutcome::extended;
    if (is_for_nothing && ballot_.answers()[node].topped_up) {
      actions.push_back({Action::Kind::undo, node});
    }
  }
}

}  // namespace redlock::coordinator
