#include "coordinator/quorum/acquisition.h"

#include "base/invariant.h"
#include "coordinator/quorum/validity.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace redlock::coordinator {

void Acquisition::start(Instant now, Actions& actions) {
  locks_.open(now, terms_.node_timeout);
  valid_until_ = validity_end(now, terms_.ttl, terms_.clock_drift);
  ask_all(terms_.nodes, actions);
}

void Acquisition::on_answer(NodeIndex node, Answer&& answer, Instant now, Actions& actions) {
  if (finished() || !locks_.record(node, std::move(answer), now)) return;
  if (is_confirming()) take_up(node, actions);
  decide(now, actions);
}

void Acquisition::on_confirmed(NodeIndex node, Answer answer, Instant now, Actions& actions) {
  if (finished()) return;
  // It was asked as it had granted, so a no is not another holder's vote.
  if (answer.kind == AnswerKind::no) {
    answer = {.kind = AnswerKind::error,
              .text = "did not take the token: it has the lock no more, or knows a larger token"};
  }
  const bool is_yes = answer.kind == AnswerKind::yes;
  if (!tokens_.record(node, std::move(answer), now)) return;
  was_confirmed_ = was_confirmed_ || is_yes;
  decide(now, actions);
}

void Acquisition::on_time(Instant now, Actions& actions) {
  if (finished()) return;
  locks_.time_out(now);
  if (is_confirming()) {
    for (NodeIndex node = 0; node < locks_.nodes(); ++node) {
      if (locks_.answers()[node].kind == AnswerKind::timed_out) take_up(node, actions);
    }
    tokens_.time_out(now);
  }
  decide(now, actions);
}

void Acquisition::abandon(Actions& actions) {
  if (!finished()) fail(AcquisitionOutcome::abandoned, actions);
}

std::optional<Instant> Acquisition::next_deadline() const {
  if (finished()) return std::nullopt;
  if (locks_.votes().outstanding() == 0) return tokens_.deadline();
  return std::min(locks_.deadline(), tokens_.deadline());
}

bool Acquisition::is_split_vote() const {
  return outcome_ == AcquisitionOutcome::held && locks_.votes().yes() > 0;
}

// What no proposal may be above to count (rule F3): judged anew with each answer. Without a quorum
// of proposals it does not matter, as none decides yet.
Token Acquisition::largest_that_counts() const {
  const auto& answers = locks_.answers();
  std::array<Token, kNodesMax> told{};
  const auto end = std::transform(answers.begin(), answers.end(), told.begin(),
                                  [](const Answer& answer) { return answer.token; });
  const auto nth = told.begin() + static_cast<std::ptrdiff_t>(quorum_of(terms_.nodes) - 1);
  std::nth_element(told.begin(), nth, end, std::greater<>());
  return *nth + kLeapMax;
}

std::size_t Acquisition::proposals() const {
  const Token most = largest_that_counts();
  const auto& answers = locks_.answers();
  return static_cast<std::size_t>(std::count_if(
      answers.begin(), answers.end(),
      [most](const Answer& answer) { return answer.token > 0 && answer.token <= most; }));
}

void Acquisition::decide(Instant now, Actions& actions) {
  if (is_confirming()) return decide_token(now, actions);
  if (terms_.fencing && proposals() >= quorum_of(terms_.nodes)) return propose(now, actions);
  decide_locks(now, actions);
}

bool Acquisition::can_be_fenced() const {
  const auto& answers = locks_.answers();
  const auto told = std::count_if(answers.begin(), answers.end(),
                                  [](const Answer& answer) { return answer.token > 0; });
  return static_cast<std::size_t>(told) + locks_.votes().outstanding() >= quorum_of(terms_.nodes);
}

void Acquisition::decide_locks(Instant now, Actions& actions) {
  const VoteCount& votes = locks_.votes();
  const VoteResult result = votes.result();
  if (result == VoteResult::pending) return;
  if (result == VoteResult::won) {
    if (!terms_.fencing) return conclude(now, actions);
    // The nodes that have not answered may yet make a quorum of proposals, and show which of those
    // that are there count.
    if (votes.outstanding() > 0 && (can_be_fenced() || terms_.hear_everyone)) return;
    return fail(AcquisitionOutcome::unfenced, actions);
  }
  // Lost. Whether that is "held" or "no quorum" is another vote: could a quorum still answer?
  const bool unreachable = votes.answered_result() == VoteResult::lost;
  if (unreachable && terms_.hear_everyone && votes.outstanding() > 0) return;
  fail(unreachable ? AcquisitionOutcome::no_quorum : AcquisitionOutcome::held, actions);
}

// A quorum of proposals is there (rule F3).
void Acquisition::propose(Instant now, Actions& actions) {
  const Token most = largest_that_counts();
  for (const Answer& answer : locks_.answers()) {
    if (answer.token <= most) token_ = std::max(token_, answer.token);
  }
  tokens_.open(locks_.start(), now, terms_.node_timeout);
  for (NodeIndex node = 0; node < locks_.nodes(); ++node) {
    if (locks_.answered(node)) take_up(node, actions);
  }
  decide_token(now, actions);
}

// What a node's answer about the lock means for the token.
void Acquisition::take_up(NodeIndex node, Actions& actions) {
  const Answer& answer = locks_.answers()[node];
  if (answer.kind == AnswerKind::yes && answer.token < token_) {
    actions.push_back({Action::Kind::confirm, node});
    return;
  }
  Answer taken = answer;
  // A late one, as the token may be given already and does not change any more; or one that does
  // not count.
  if (answer.token > token_) {
    taken = {.kind = AnswerKind::error, .text = "proposed a larger token than the others"};
  }
  tokens_.record(node, std::move(taken), locks_.start() + answer.took);
}

void Acquisition::decide_token(Instant now, Actions& actions) {
  const VoteCount& votes = tokens_.votes();
  if (votes.result() == VoteResult::won) return conclude(now, actions);
  if (votes.result() == VoteResult::pending) return;
  if (terms_.hear_everyone && votes.outstanding() > 0) return;
  fail(AcquisitionOutcome::no_quorum, actions);
}

void Acquisition::conclude(Instant now, Actions& actions) {
  const bool is_in_time = now <= later(locks_.start(), terms_.acquire_within);
  if (now >= valid_until_ || !is_in_time) return fail(AcquisitionOutcome::too_late, actions);
  INVARIANT(locks_.votes().yes() >= quorum_of(terms_.nodes), "a lock that no quorum granted");
  INVARIANT(!terms_.fencing || token_ > 0, "a lock without the token that was asked for");
  outcome_ = AcquisitionOutcome::acquired;
  // From here on the caller may release it at any moment, or be gone: nothing may be written late.
  for (NodeIndex node = 0; node < locks_.nodes(); ++node) {
    if (locks_.is_silent(node)) actions.push_back({Action::Kind::withdraw, node});
  }
}

void Acquisition::fail(AcquisitionOutcome outcome, Actions& actions) {
  outcome_ = outcome;
  for (NodeIndex node = 0; node < locks_.nodes(); ++node) {
    if (locks_.answers()[node].never_sent) continue;
    actions.push_back({Action::Kind::undo, node});
  }
}

}  // namespace redlock::coordinator
