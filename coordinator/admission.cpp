#include "coordinator/admission.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

Duration admissible_in(const NodeStatus& status) {
  const bool is_recovering = status.state == "recovering";
  return is_recovering ? std::max(status.admit_in, status.delay_left) : status.admit_in;
}

Admission::Admission(const Terms& terms, const AdmissionPlan& plan)
    : terms_(terms), plan_(plan), standings_(terms.nodes), fenced_votes_(terms.nodes) {
  INVARIANT(plan.candidates.any(), "an admission of nobody");
  INVARIANT(!plan.new_group || plan.candidates == all_nodes(terms.nodes),
            "a new group of some of its nodes");
}

void Admission::start(Instant now, Actions& actions) {
  if (!plan_.looked) return ask(AdmissionQuestion::look, plan_.candidates, now, actions);
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    if (plan_.candidates.test(node)) standings_[node].state = State::unfenced;
  }
  ask(AdmissionQuestion::read, all_nodes(terms_.nodes), now, actions);
}

void Admission::ask(AdmissionQuestion question, const NodeSet& nodes, Instant now,
                    Actions& actions) {
  question_ = question;
  awaited_ = nodes;
  asked_at_ = now;
  const bool is_slow = question == AdmissionQuestion::admit;
  deadline_ =
      later(now, is_slow ? std::max(terms_.node_timeout, kAdmitTimeMin) : terms_.node_timeout);
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    if (nodes.test(node)) actions.push_back({Action::Kind::ask, node});
  }
}

void Admission::on_answer(NodeIndex node, AdmissionReply reply, Instant now, Actions& actions) {
  INVARIANT(node < terms_.nodes, "an answer of a node that was not asked");
  if (finished() || reply.to != question_ || !awaited_.test(node)) return;
  note(node, std::move(reply), now);
  decide(now, actions);
}

void Admission::on_time(Instant now, Actions& actions) {
  if (finished() || now < deadline_) return;
  const Answer silent = silence(deadline_ - asked_at_);
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    if (awaited_.test(node)) note(node, {.to = question_, .answer = silent}, now);
  }
  decide(now, actions);
}

std::optional<Instant> Admission::next_deadline() const {
  if (finished()) return std::nullopt;
  return deadline_;
}

void Admission::note(NodeIndex node, AdmissionReply reply, Instant now) {
  awaited_.reset(node);
  Standing& standing = standings_[node];
  standing.answer = std::move(reply.answer);
  standing.answer.took = now - asked_at_;
  const bool answered = standing.answer.kind == AnswerKind::yes;
  if (question_ == AdmissionQuestion::admit) {
    standing.state = answered ? State::admitted : State::failed;
    return;
  }
  if (question_ == AdmissionQuestion::read) {
    if (!answered) return fenced_votes_.add_silent();
    reply.fenced ? fenced_votes_.add_yes() : fenced_votes_.add_no();
  }
  if (!answered) return;
  standing.counter = std::max(standing.counter, reply.counter);
  if (question_ == AdmissionQuestion::look) {
    standing.recovering = reply.recovering;
    standing.admit_in = reply.admit_in;
  }
  standing.state = reply.fenced              ? State::fenced
                   : standing.admit_in > 0ns ? State::early
                                             : State::unfenced;
}

void Admission::decide(Instant now, Actions& actions) {
  switch (question_) {
    case AdmissionQuestion::look:
      if (awaited_.none()) after_look(now, actions);
      return;
    case AdmissionQuestion::read:
      return during_read(now, actions);
    case AdmissionQuestion::admit:
      if (awaited_.none()) after_admit(actions);
      return;
  }
}

// Without a candidate that can be admitted now, no counter needs to be read.
void Admission::after_look(Instant now, Actions& actions) {
  const NodeSet ready = in_state(State::unfenced);
  const bool can_go_on = plan_.new_group ? is_whole() : ready.any();
  if (can_go_on) {
    return ask(AdmissionQuestion::read, all_nodes(terms_.nodes), now, actions);
  }
  const std::size_t heard = (plan_.candidates & ~in_state(State::unknown)).count();
  if (heard < std::min(quorum_of(terms_.nodes), plan_.candidates.count())) {
    return finish(AdmissionOutcome::no_quorum, actions);
  }
  const bool all_fenced = in_state(State::fenced).count() == heard;
  finish(all_fenced && !plan_.new_group ? AdmissionOutcome::done : AdmissionOutcome::refused,
         actions);
}

bool Admission::is_whole() const {
  return std::all_of(standings_.begin(), standings_.end(), [](const Standing& node) {
    return node.state == State::unfenced && !node.recovering;
  });
}

// Decided as soon as a quorum says fenced, or none can any more.
void Admission::during_read(Instant now, Actions& actions) {
  if (plan_.new_group) {
    if (awaited_.none()) after_new_groups_read(now, actions);
    return;
  }
  const VoteResult result = fenced_votes_.result();
  if (result == VoteResult::pending) return;
  if (result == VoteResult::lost) {
    // Only nodes that say "unfenced" prove that no quorum is fenced.
    const bool proved = fenced_votes_.no() > terms_.nodes - quorum_of(terms_.nodes);
    if (!proved && terms_.hear_everyone && awaited_.any()) return;
    return finish(proved ? AdmissionOutcome::needs_operator : AdmissionOutcome::no_quorum, actions);
  }
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    if (standings_[node].state == State::fenced) {
      floor_ = std::max(floor_, standings_[node].counter);
    }
  }
  const NodeSet ready = in_state(State::unfenced) & plan_.candidates;
  withdraw_awaited(actions);
  if (ready.none()) return after_admit(actions);  // others admitted them meanwhile
  ask(AdmissionQuestion::admit, ready, now, actions);
}

// The operator's floor, or more if a node knows better.
void Admission::after_new_groups_read(Instant now, Actions& actions) {
  if (fenced_votes_.no() < terms_.nodes) return finish(AdmissionOutcome::refused, actions);
  floor_ = plan_.new_group->floor;
  for (const Standing& node : standings_) floor_ = std::max(floor_, node.counter);
  ask(AdmissionQuestion::admit, plan_.candidates, now, actions);
}

void Admission::after_admit(Actions& actions) {
  const NodeSet left =
      (in_state(State::failed) | in_state(State::early) | in_state(State::unfenced)) &
      plan_.candidates;
  finish(left.any() ? AdmissionOutcome::refused : AdmissionOutcome::done, actions);
}

void Admission::finish(AdmissionOutcome outcome, Actions& actions) {
  outcome_ = outcome;
  withdraw_awaited(actions);
}

void Admission::withdraw_awaited(Actions& actions) {
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    if (awaited_.test(node)) actions.push_back({Action::Kind::withdraw, node});
  }
  awaited_.reset();
}

bool Admission::admitted_any() const {
  return ((in_state(State::admitted) | in_state(State::fenced)) & plan_.candidates).any();
}

NodeSet Admission::in_state(State state) const {
  NodeSet nodes;
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    nodes.set(node, standings_[node].state == state);
  }
  return nodes;
}

}  // namespace redlock::coordinator
