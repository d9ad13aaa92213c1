#include "coordinator/quorum/admission.h"

#include "coordinator/quorum/floor.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

Admission::Admission(const Terms& terms, const AdmissionPlan& plan)
    : terms_(terms), plan_(plan), standings_(terms.nodes), fenced_votes_(terms.nodes) {
  INVARIANT(plan.candidates.any(), "an admission of nobody");
  INVARIANT(!plan.by_operator.new_group || plan.candidates == all_nodes(terms.nodes),
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
      later(now, is_slow ? std::max(terms_.node_timeout, kStoreTimeMin) : terms_.node_timeout);
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
  if (reply.answer.kind == AnswerKind::yes && has_answered(reply.answer.from, node)) {
    reply.answer = second_vote();
  }
  Standing& standing = standings_[node];
  standing.answer = std::move(reply.answer);
  standing.answer.took = now - asked_at_;
  const bool answered = standing.answer.kind == AnswerKind::yes;
  if (question_ == AdmissionQuestion::admit) {
    // Fenced: another coordinator has admitted it since.
    standing.state = !answered ? State::failed : reply.fenced ? State::fenced : State::admitted;
    return;
  }
  if (question_ == AdmissionQuestion::read) {
    if (!answered) return fenced_votes_.add_silent();
    reply.fenced ? fenced_votes_.add_yes() : fenced_votes_.add_no();
    read_fenced_.set(node, reply.fenced);
  }
  if (!answered) return;
  standing.counter = std::max(standing.counter, reply.counter);
  least_known_ = std::max({least_known_, reply.counter, reply.fenced ? reply.bound : 0});
  if (question_ == AdmissionQuestion::look) {
    standing.recovering = reply.recovering;
    standing.admit_in = reply.admit_in;
  }
  standing.state = reply.fenced              ? State::fenced
                   : standing.admit_in > 0ns ? State::early
                                             : State::unfenced;
}

// Whether the node was heard at another address than this one (rule Q5).
bool Admission::has_answered(NodeIdentity from, NodeIndex address) const {
  if (from == NodeIdentity::unknown) return false;
  for (NodeIndex other = 0; other < terms_.nodes; ++other) {
    const Answer& answer = standings_[other].answer;
    if (other != address && answer.kind == AnswerKind::yes && answer.from == from) return true;
  }
  return false;
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
  const bool can_go_on = plan_.by_operator.new_group ? is_whole() : ready.any();
  if (can_go_on) {
    return ask(AdmissionQuestion::read, all_nodes(terms_.nodes), now, actions);
  }
  const std::size_t heard = (plan_.candidates & ~in_state(State::unknown)).count();
  if (heard < std::min(quorum_of(terms_.nodes), plan_.candidates.count())) {
    return finish(AdmissionOutcome::no_quorum, actions);
  }
  const bool all_fenced = in_state(State::fenced).count() == heard;
  finish(all_fenced && !plan_.by_operator.new_group ? AdmissionOutcome::done
                                                    : AdmissionOutcome::refused,
         actions);
}

bool Admission::is_whole() const {
  const bool all_ready =
      std::all_of(standings_.begin(), standings_.end(), [](const Standing& node) {
        const bool is_ready = node.state == State::unfenced && !node.recovering;
        return is_ready || node.state == State::fenced;
      });
  return all_ready && in_state(State::fenced).count() < quorum_of(terms_.nodes);
}

// Over when all have answered, as each counter may be the one that knows, or when no quorum can be
// fenced any more.
void Admission::during_read(Instant now, Actions& actions) {
  if (awaited_.none()) {
    return plan_.by_operator.new_group ? after_new_groups_read(now, actions)
                                       : after_read(now, actions);
  }
  const bool can_be_over = !plan_.by_operator.new_group && !terms_.hear_everyone;
  if (can_be_over && fenced_votes_.result() == VoteResult::lost) after_read(now, actions);
}

void Admission::after_read(Instant now, Actions& actions) {
  if (fenced_votes_.result() != VoteResult::won) {
    // Only nodes that say "unfenced" prove that no quorum is fenced.
    const bool proved = fenced_votes_.no() > terms_.nodes - quorum_of(terms_.nodes);
    return finish(proved ? AdmissionOutcome::needs_operator : AdmissionOutcome::no_quorum, actions);
  }
  const NodeSet ready = in_state(State::unfenced) & plan_.candidates;
  if (ready.none()) return after_admit(actions);  // others admitted them meanwhile
  if (const auto refusal = choose_floor()) return finish(*refusal, actions);
  ask(AdmissionQuestion::admit, ready, now, actions);
}

// REQUIRES: a quorum of fenced nodes was read, and not all are fenced.
std::optional<AdmissionOutcome> Admission::choose_floor() {
  std::vector<Token> counters;
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    if (read_fenced_.test(node)) counters.push_back(standings_[node].counter);
  }
  const auto read = floor_of(std::move(counters), terms_.nodes);
  INVARIANT(read.has_value(), "a floor of counters that nobody read");
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    Standing& standing = standings_[node];
    standing.is_far_above = read_fenced_.test(node) && standing.counter > read->next + kLeapMax;
  }
  least_floor_ = read->is_apart() ? read->next : read->token;
  floor_ = plan_.by_operator.floor.value_or(read->token);
  if (!plan_.by_operator.floor && read->is_apart()) return AdmissionOutcome::counters_apart;
  if (floor_ < least_floor_) return AdmissionOutcome::floor_too_low;
  return std::nullopt;
}

void Admission::after_new_groups_read(Instant now, Actions& actions) {
  const bool all_said = fenced_votes_.answered() == terms_.nodes;
  if (!all_said || !is_whole()) return finish(AdmissionOutcome::refused, actions);
  least_floor_ = least_known_;
  const bool is_known = fenced_votes_.no() < quorum_of(terms_.nodes);
  if (!plan_.by_operator.floor && !is_known) return finish(AdmissionOutcome::floor_needed, actions);
  floor_ = plan_.by_operator.floor.value_or(least_floor_);
  if (floor_ < least_floor_) return finish(AdmissionOutcome::floor_too_low, actions);
  ask(AdmissionQuestion::admit, in_state(State::unfenced), now, actions);
}

void Admission::after_admit(Actions& actions) {
  const NodeSet left =
      (in_state(State::failed) | in_state(State::early) | in_state(State::unfenced)) &
      plan_.candidates;
  finish(left.any() ? AdmissionOutcome::refused : AdmissionOutcome::done, actions);
}

void Admission::finish(AdmissionOutcome outcome, Actions& actions) {
  outcome_ = outcome;
  for (NodeIndex node = 0; node < terms_.nodes; ++node) {
    if (awaited_.test(node)) actions.push_back({Action::Kind::withdraw, node});
  }
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
