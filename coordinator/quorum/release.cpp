#include "coordinator/quorum/release.h"

#include <utility>

namespace redlock::coordinator {

void Release::start(Instant now, Actions& actions) {
  ballot_.open(now, terms_.node_timeout);
  ask_all(terms_.nodes, actions);
}

void Release::on_answer(NodeIndex node, Answer&& answer, Instant now) {
  if (finished() || !ballot_.record(node, std::move(answer), now)) return;
  decide();
}

void Release::on_time(Instant now) {
  if (!finished() && ballot_.time_out(now)) decide();
}

std::optional<Instant> Release::next_deadline() const {
  if (finished()) return std::nullopt;
  return ballot_.deadline();
}

void Release::decide() {
  const VoteCount& votes = ballot_.votes();
  switch (votes.answered_result()) {
    case VoteResult::pending:
      return;
    case VoteResult::won:
      outcome_ = votes.yes() > 0 ? ReleaseOutcome::released : ReleaseOutcome::not_held;
      return;
    case VoteResult::lost:
      if (terms_.hear_everyone && votes.outstanding() > 0) return;
      outcome_ = ReleaseOutcome::no_quorum;
      return;
  }
}

}  // namespace redlock::coordinator
