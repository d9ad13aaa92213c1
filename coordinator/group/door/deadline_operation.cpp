#include "coordinator/group/door/deadline_operation.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {
namespace {

// [1, token, ms]: what is left of the lock, with whole milliseconds asked for (rule Q4). nullopt: a
// plain Redis does not tell.
std::optional<std::int64_t> told_left_ms(const protocol::Reply& reply) {
  const auto& items = reply.items();
  return items.size() == 3 ? std::optional(items[2].integer()) : std::nullopt;
}

bool tells_of_later(const protocol::Reply& reply, Duration asked) {
  const auto left = told_left_ms(reply);
  return left && *left > ceil_ms(asked);
}

}  // namespace

DeadlineOperation::DeadlineOperation(GroupParts& group, ExtendRequest wanted, Done done)
    : Operation(group),
      wanted_(std::move(wanted)),
      claim_(std::make_shared<const Claim>(
          Claim{wanted_.name, wanted_.value, {}, wanted_.replacement.value_or("")})),
      after_(wanted_.replacement
                 ? std::make_shared<const Claim>(Claim{wanted_.name, *wanted_.replacement})
                 : claim_),
      node_timeout_(group.terms(wanted_.ttl).node_timeout),
      machine_(group.terms(wanted_.ttl), kNever),
      done_(std::move(done)),
      connections_(group.links.size()) {}

NodeRequest DeadlineOperation::request() const {
  if (wanted_.replacement) {
    // A deadline is not brought forward: so the least of all keeps it.
    return {.kind = RequestKind::replace,
            .claim = claim_,
            .ttl = wanted_.keeps_deadline ? 1ms : wanted_.ttl,
            .shortens = wanted_.shortens};
  }
  return {.kind = wanted_.shortens ? RequestKind::shorten : RequestKind::extend,
          .claim = claim_,
          .ttl = wanted_.ttl};
}

void DeadlineOperation::start(Instant now) {
  began_ = now;
  machine_.start(now, actions_);
  after_machine(now);
}

// A node whose record is about to run out would forget that it has voted.
bool DeadlineOperation::keeps_it_too_short(const Completion& completion) const {
  const auto left = told_left_ms(completion.reply);
  const bool is_vote_for_it = completion.answer.kind == AnswerKind::yes;
  return wanted_.replacement && is_vote_for_it && left &&
         *left < ceil_ms(least_time_to_replace(group().options.node_timeout));
}

void DeadlineOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  note_answer(node, completion.answer);
  if (keeps_it_too_short(completion)) {
    completion.answer.kind = AnswerKind::error;
    completion.answer.text = "its lock runs out too soon";
  }
  connections_[node] = group().links[node].connection();
  const bool is_vote_for_it = completion.answer.kind == AnswerKind::yes;
  keeps_later_ = keeps_later_ || (is_vote_for_it && tells_of_later(completion.reply, wanted_.ttl));
  machine_.on_answer(node, std::move(completion.answer), now, actions_);
  after_machine(now);
}

void DeadlineOperation::on_time(Instant now) {
  machine_.on_time(now, actions_);
  after_machine(now);
}

void DeadlineOperation::cancel(Instant now) {
  machine_.abandon(actions_);
  after_machine(now);
}

void DeadlineOperation::after_machine(Instant now) {
  perform(actions_, request(), now);
  actions_.clear();
  if (machine_.outcome() == ExtensionOutcome::extended && !wanted_.shortens) top_up(now);
}

// Nodes that answer later are topped up then.
void DeadlineOperation::top_up(Instant now) {
  const TopUp top_up{.claim = after_,
                     .token = token(),
                     .ends_at = later(began_, wanted_.ttl),
                     .asked_by = later(began_, node_timeout_)};
  for (NodeIndex node = 0; node < machine_.answers().size(); ++node) {
    const Link& link = group().links[node];
    const bool is_same = link.is_ready() && link.connection() == connections_[node];
    if (!machine_.answers()[node].is_lacking || !is_same) continue;
    if (auto request = top_up.request(whom(node), now)) {
      ++group().figures.top_ups;
      group().links[node].send(std::move(*request), now);
    }
  }
  group().late.expect_lacks(id(), top_up, missing());
}

Token DeadlineOperation::token() const {
  const auto& answers = machine_.answers();
  for (const Answer& answer : answers) {
    const auto same = std::count_if(answers.begin(), answers.end(), [&](const Answer& other) {
      return other.kind == AnswerKind::yes && other.token == answer.token;
    });
    const bool is_yes = answer.kind == AnswerKind::yes;
    if (is_yes && static_cast<std::size_t>(same) >= quorum_of(answers.size())) return answer.token;
  }
  return 0;
}

void DeadlineOperation::tell() {
  const bool is_done = machine_.outcome() == ExtensionOutcome::extended;
  done_({.outcome = machine_.outcome(),
         .valid_until = machine_.valid_until(),
         .answers = machine_.answers(),
         .began = began_,
         .token = is_done ? token() : 0,
         .keeps_later = keeps_later_,
         .met_change = machine_.outcome() == ExtensionOutcome::no_quorum &&
                       (met_change_ || is_change_under_way(machine_.answers()))});
}

}  // namespace redlock::coordinator
