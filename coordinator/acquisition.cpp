#include "coordinator/acquisition.h"

#include "coordinator/validity.h"

#include <utility>

namespace redlock::coordinator {

void Acquisition::start(Instant now, Actions& actions) {
  ballot_.open(now, terms_.node_timeout);
  valid_until_ = validity_end(now, terms_.ttl, terms_.clock_drift);
  ask_all(terms_.nodes, actions);
}

void Acquisition::on_answer(NodeIndex node, Answer answer, Instant now, Actions& actions) {
  if (finished() || !ballot_.record(node, std::move(answer), now)) return;
  decide(now, actions);
}

void Acquisition::on_time(Instant now, Actions& actions) {
  if (finished() || !ballot_.time_out(now)) return;
  decide(now, actions);
}

void Acquisition::abandon(Actions& actions) {
  if (!finished()) fail(AcquisitionOutcome::abandoned, actions);
}

std::optional<Instant> Acquisition::next_deadline() const {
  if (finished()) return std::nullopt;
  return ballot_.deadline();
}

bool Acquisition::is_split_vote() const {
  return outcome_ == AcquisitionOutcome::held && ballot_.votes().yes() > 0;
}

void Acquisition::decide(Instant now, Actions& actions) {
  const VoteResult result = ballot_.votes().result();
  if (result == VoteResult::pending) return;
  if (result == VoteResult::won) {
    if (now < valid_until_) return succeed(actions);
    return fail(AcquisitionOutcome::too_late, actions);
  }
  // Lost. Whether that is "held" or "no quorum" is another vote: could a quorum still answer?
  const bool unreachable = ballot_.votes().answered_result() == VoteResult::lost;
  if (unreachable && terms_.hear_everyone && ballot_.votes().outstanding() > 0) return;
  fail(unreachable ? AcquisitionOutcome::no_quorum : AcquisitionOutcome::held, actions);
}

void Acquisition::succeed(Actions& actions) {
  outcome_ = AcquisitionOutcome::acquired;
  // From here on the caller may release it at any moment, or be gone: nothing may be written late.
  for (NodeIndex node = 0; node < ballot_.nodes(); ++node) {
    if (!ballot_.answered(node)) actions.push_back({Action::Kind::withdraw, node});
  }
}

void Acquisition::fail(AcquisitionOutcome outcome, Actions& actions) {
  outcome_ = outcome;
  for (NodeIndex node = 0; node < ballot_.nodes(); ++node) {
    if (ballot_.answers()[node].never_sent) continue;
    actions.push_back({Action::Kind::undo, node});
  }
}

}  // namespace redlock::coordinator
