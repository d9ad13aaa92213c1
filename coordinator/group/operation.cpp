#include "coordinator/group/operation.h"

#include "coordinator/quorum/tally.h"
#include "coordinator/quorum/validity.h"

#include <algorithm>

namespace redlock::coordinator {

void Operation::perform(const Actions& actions, const NodeRequest& request, Instant now) {
  for (const Action& action : actions) {
    if (action.node >= group_.links.size()) continue;  // the group has shrunk since
    switch (action.kind) {
      case Action::Kind::ask:
        ask(action.node, NodeRequest(request), now);
        break;
      case Action::Kind::confirm:
        confirm(action.node, request, now);
        break;
      case Action::Kind::withdraw:
        withdraw(action.node);
        break;
      case Action::Kind::undo:
        undo(action.node, request, now);
        break;
    }
  }
}

void Operation::ask(NodeIndex node, NodeRequest&& request, Instant now) {
  Link& link = group_.links[node];
  Question& question = questions_[node];
  question.whom = link.identity();
  request.operation = id_;
  if (request.kind != RequestKind::release) request.meant_for = question.whom;
  question.ticket = link.send(std::move(request), now);
  asked_.set(node, question.ticket != Link::kRefused);
}

// Of the node that granted, and of no other that its address leads to by now (rule Q5).
void Operation::confirm(NodeIndex node, const NodeRequest& request, Instant now) {
  group_.links[node].send({.operation = id_,
                           .kind = RequestKind::confirm,
                           .claim = request.claim,
                           .token = request.token,
                           .meant_for = whom(node)},
                          now);
}

void Operation::withdraw(NodeIndex node) {
  if (group_.links[node].withdraw(questions_[node].ticket)) asked_.reset(node);
}

void Operation::undo(NodeIndex node, const NodeRequest& request, Instant now) {
  withdraw(node);
  if (!asked_.test(node)) return;
  // A failed attempt's value is never used again. A lock whose extension failed is still its
  // holder's, who may top this node up with it once more (rule Q3): its request says `plain`.
  group_.links[node].send({.kind = RequestKind::release,
                           .claim = request.claim,
                           .worth_until = later(now, request.ttl),
                           .release = request.release},
                          now);
}

bool Operation::is_change_under_way(const std::vector<Answer>& answers) const {
  if (!group_.rosters.refusal().empty()) return false;
  for (NodeIndex node = 0; node < group_.links.size(); ++node) {
    const bool refuses = answers[node].kind == AnswerKind::other_group;
    if (refuses && group_.rosters.is_welcome(group_.links[node])) return true;
  }
  return false;
}

// --- acquire

AcquireOperation::AcquireOperation(GroupParts& group, AcquireRequest wanted, Instant now, Done done)
    : Operation(group),
      wanted_(std::move(wanted)),
      next_(group.waits, group.tickets, std::move(wanted_.name), wanted_.patience, now),
      done_(std::move(done)) {}

bool AcquireOperation::is_acquired() const {
  return attempt_ && attempt_->outcome() == AcquisitionOutcome::acquired;
}

NodeRequest AcquireOperation::request() const {
  return {.kind = RequestKind::acquire,
          .claim = claim_,
          .ttl = wanted_.ttl,
          .release = wanted_.make_value ? ReleaseKind::undo : ReleaseKind::final,
          .token = attempt_->token()};
}

Terms AcquireOperation::terms() const {
  Terms terms = group().terms(wanted_.ttl, wanted_.fence);
  if (wanted_.acquire_within) {
    terms.acquire_within = *wanted_.acquire_within;
    terms.node_timeout = std::min(terms.node_timeout, terms.acquire_within);
  }
  return terms;
}

// A new attempt has a new value (rule Q6): an undo of the last one can never hit it.
void AcquireOperation::start(Instant now) {
  if (!attempt_ && next_.stands_behind(id(), now, group().random)) return make_no_attempt(now);
  next_.begin(now);
  next_attempt();
  began_ = now;
  std::string value = wanted_.make_value ? wanted_.make_value() : group().values();
  const std::string& label = wanted_.label.empty() ? group().options.label : wanted_.label;
  claim_ = std::make_shared<const Claim>(Claim{next_.name(), std::move(value), label});
  witnesses_ = std::make_shared<Witnesses>(group().links.size());
  attempt_.emplace(terms());
  attempt_->start(now, actions_);
  after_machine(now);
}

// As if it were over: nobody was asked.
void AcquireOperation::make_no_attempt(Instant now) {
  began_ = now;
  attempt_.emplace(terms());
  attempt_->abandon(actions_);
  actions_.clear();
}

void AcquireOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  if (completion.kind == RequestKind::confirm) {
    attempt_->on_confirmed(node, std::move(completion.answer), now, actions_);
  } else {
    note_answer(node, completion.answer);
    if (completion.answer.kind == AnswerKind::yes) {
      witnesses_->note(node, group().links[node].connection(), attempt_->valid_until());
    }
    attempt_->on_answer(node, std::move(completion.answer), now, actions_);
  }
  after_machine(now);
}

void AcquireOperation::on_time(Instant now) {
  if (stays_until_) {
    if (now >= *stays_until_) stays_until_.reset();
    return;
  }
  if (next_.when()) {
    if (now >= *next_.when()) start(now);
    return;
  }
  attempt_->on_time(now, actions_);
  after_machine(now);
}

void AcquireOperation::abandon(Instant now) {
  attempt_->abandon(actions_);
  perform(actions_, request(), now);
  actions_.clear();
}

void AcquireOperation::cancel(Instant now) {
  abandon(now);
  next_.leave(now);
}

void AcquireOperation::leave_nodes(Instant now) {
  begins_anew_ = !attempt_->finished();
  if (!begins_anew_) return;
  abandon(now);
  next_attempt();
}

void AcquireOperation::on_nodes_changed(Instant now) {
  Operation::on_nodes_changed(now);
  const bool has_stayed = std::exchange(stays_until_, std::nullopt).has_value();
  if (!std::exchange(begins_anew_, false) && !has_stayed) return;
  gave_up_ = false;
  start(now);
}

void AcquireOperation::after_machine(Instant now) {
  if (!actions_.empty()) perform(actions_, request(), now);
  actions_.clear();
  if (!attempt_->finished() || next_.when() || stays_until_) return;
  gave_up_ = is_hopeless();
  if (is_acquired() || gave_up_) {
    return next_.leave(now, is_acquired() ? nodes_that_said(AnswerKind::yes) : NodeSet());
  }
  const bool is_split = attempt_->is_split_vote();
  if (is_split) ++group().figures.split_votes;
  const NodeSet denied = attempt_->token() == 0 ? nodes_that_said(AnswerKind::no) : NodeSet();
  gave_up_ = !next_.after(attempt_->outcome(), is_split, id(), now, group().random, denied);
  if (!gave_up_ && wanted_.on_retry) {
    wanted_.on_retry({attempt_->outcome(), {}, attempt_->answers(), plain_nodes(), began_});
  }
  if (gave_up_) stay_for_admission(now);
  if (gave_up_) stay_for_change(now);
}

// Whoever needs the tokens of an unfenced node that can be admitted now does not fail for the few
// round trips that this takes (rule F6).
void AcquireOperation::stay_for_admission(Instant now) {
  if (attempt_->outcome() != AcquisitionOutcome::unfenced || has_stayed_) return;
  has_stayed_ = true;
  if (group().last_admitted && *group().last_admitted >= began_) {
    gave_up_ = false;
    return start(now);
  }
  if (!group().admissions.is_possible(now)) return;
  group().awaiting_admission.push_back(id());
  stays_until_ = later(now, group().options.node_timeout);
}

void AcquireOperation::stay_for_change(Instant now) {
  if (attempt_->outcome() != AcquisitionOutcome::no_quorum || has_stayed_for_change_) return;
  if (!is_change_under_way(attempt_->answers())) return;
  has_stayed_for_change_ = true;
  stays_until_ = later(now, kChangeTimeMax);
}

void AcquireOperation::on_admission_ended(const Admission& admission, Instant now) {
  if (!stays_until_) return;
  stays_until_.reset();
  if (!admission.admitted_any()) return;
  gave_up_ = false;
  start(now);
}

// To the last question of the attempt.
NodeSet AcquireOperation::nodes_that_said(AnswerKind kind) const {
  NodeSet nodes;
  const std::vector<Answer>& answers = attempt_->answers();
  for (NodeIndex node = 0; node < answers.size(); ++node) {
    nodes.set(node, answers[node].kind == kind);
  }
  return nodes;
}

NodeSet AcquireOperation::plain_nodes() const {
  NodeSet plain;
  for (NodeIndex node = 0; node < group().links.size(); ++node) {
    plain.set(node, group().links[node].is_plain_redis());
  }
  return plain;
}

// No waiting makes a quorum of nodes take another password, other settings or a TTL above their
// max-ttl, nor give tokens where a quorum of them gives none: an operator has to.
bool AcquireOperation::is_hopeless() const {
  if (!group().rosters.refusal().empty()) return true;
  const std::vector<Answer>& answers = attempt_->answers();
  if (attempt_->outcome() == AcquisitionOutcome::no_quorum) {
    return is_beyond_limits(answers) || leave_no_quorum(answers, AnswerKind::denied) ||
           leave_no_quorum(answers, AnswerKind::unsafe);
  }
  return attempt_->outcome() == AcquisitionOutcome::unfenced &&
         leave_no_tokens(answers, plain_nodes());
}

std::optional<Instant> AcquireOperation::next_deadline() const {
  if (stays_until_) return stays_until_;
  const auto next = next_.when() ? next_.when() : attempt_->next_deadline();
  return next == kNever ? std::nullopt : next;
}

void AcquireOperation::tell() {
  HeldLock lock;
  if (is_acquired()) {
    lock = {.claim = claim_,
            .ttl = wanted_.ttl,
            .valid_until = attempt_->valid_until(),
            .token = attempt_->token(),
            .round_trips = attempt_->round_trips(),
            .witnesses = witnesses_};
    group().late.expect_grants(id(), lock, missing());
    if (lock.round_trips > 1) ++group().figures.second_rounds;
  }
  done_({attempt_->outcome(), std::move(lock), attempt_->take_answers(), plain_nodes(), began_});
}

// --- extend

ExtendOperation::ExtendOperation(GroupParts& group, const HeldLock& lock, Done done)
    : Operation(group),
      lock_(lock),
      machine_(group.terms(lock.ttl), lock.valid_until),
      done_(std::move(done)) {}

NodeRequest ExtendOperation::request() const {
  return {.kind = RequestKind::extend,
          .claim = lock_.claim,
          .ttl = lock_.ttl,
          .tops_up = machine_.tops_up(),
          .token = lock_.token};
}

// A node that must hold the lock is not topped up: if it lacks it, it was released (rule Q3).
void ExtendOperation::ask(NodeIndex node, NodeRequest&& request, Instant now) {
  const std::uint64_t connection = group().links[node].connection();
  const bool must_hold =
      lock_.witnesses != nullptr && lock_.witnesses->must_hold(node, connection, now);
  request.tops_up = request.tops_up && !must_hold;
  Operation::ask(node, std::move(request), now);
}

void ExtendOperation::start(Instant now) {
  holds_until_ = validity_end(now, lock_.ttl, group().options.clock_drift);
  group().late.begin_extension(id(), lock_.claim);
  machine_.start(now, actions_);
  after_machine(now);
}

void ExtendOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  note_answer(node, completion.answer);
  group().late.correct_answer(lock_.claim->value, completion.answer);
  const bool holds = completion.answer.kind == AnswerKind::yes && !completion.answer.topped_up;
  const std::uint64_t connection = group().links[node].connection();
  if (lock_.witnesses && holds) lock_.witnesses->note(node, connection, holds_until_);
  if (lock_.witnesses && completion.answer.kind == AnswerKind::no) {
    lock_.witnesses->note_lack(node, connection, now);
  }
  machine_.on_answer(node, std::move(completion.answer), now, actions_);
  after_machine(now);
}

void ExtendOperation::on_time(Instant now) {
  machine_.on_time(now, actions_);
  after_machine(now);
}

void ExtendOperation::cancel(Instant now) {
  machine_.abandon(actions_);
  after_machine(now);
  end();
}

void ExtendOperation::after_machine(Instant now) {
  perform(actions_, request(), now);
  actions_.clear();
}

// A top-up for nothing.
void ExtendOperation::undo(NodeIndex node, const NodeRequest& request, Instant now) {
  if (!group().late.is_newest_extension(id(), lock_.claim->value)) return;
  Operation::undo(node, request, now);
  group().late.forget_top_up(whom(node), lock_.claim->value);
}

void ExtendOperation::end() {
  const bool has_failed = machine_.outcome() != ExtensionOutcome::extended;
  group().late.end_extension(id(), lock_, has_failed, holds_until_, missing());
}

void ExtendOperation::tell() {
  end();
  done_({machine_.outcome(), machine_.valid_until(), machine_.answers()});
}

// --- release

ReleaseOperation::ReleaseOperation(GroupParts& group, const HeldLock& lock, ReleaseKind kind,
                                   Done done)
    : Operation(group),
      claim_(lock.claim),
      ttl_(lock.ttl),
      kind_(kind),
      machine_(group.terms(lock.ttl)),
      done_(std::move(done)) {}

// At every node: also one that the acquisition never reached may have been topped up since.
void ReleaseOperation::start(Instant now) {
  machine_.start(now, actions_);
  for (const Action& action : actions_) {
    ask(action.node,
        {.kind = RequestKind::release,
         .claim = claim_,
         .worth_until = later(now, ttl_),
         .release = kind_},
        now);
  }
  actions_.clear();
}

void ReleaseOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  machine_.on_answer(node, std::move(completion.answer), now);
}

void ReleaseOperation::tell() {
  done_({machine_.outcome(), machine_.take_answers()});
}

}  // namespace redlock::coordinator
