#include "coordinator/roster/roster_change.h"

#include "coordinator/quorum/floor.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {
namespace {

using protocol::Reply;

Duration duration_of(const Reply& ms) {
  constexpr std::int64_t kMillisecondsMax = Duration::max() / 4 / 1ms;
  return std::chrono::milliseconds(std::clamp<std::int64_t>(ms.integer(), 0, kMillisecondsMax));
}

Token token_of(const Reply& number) {
  return static_cast<Token>(std::clamp<std::int64_t>(number.integer(), 0, kTokenMax));
}

bool names(const Roster& roster, NodeIdentity member) {
  return std::any_of(roster.members.begin(), roster.members.end(), [member](const auto& named) {
    return member_identity_of(named.id, named.ledger) == member;
  });
}

}  // namespace

RosterChange::RosterChange(Plan plan)
    : plan_(std::move(plan)),
      ballot_(plan_.members.size()),
      said_(plan_.members.size()),
      random_(plan_.proposer),
      longest_(plan_.from.longest) {}

void RosterChange::start(Instant now, Actions& actions) {
  if (plan_.wanted.epoch <= plan_.from.roster.epoch) {
    result_ = plan_.from;
    outcome_ = RosterOutcome::superseded;
    return;
  }
  if (!plan_.is_rescue) return bid(now, actions);
  result_ = {plan_.wanted, longest_, 0};
  ask(Step::learn, now, actions);
}

void RosterChange::bid(Instant now, Actions& actions) {
  ++bids_;
  bid_at_ = now;
  bid_ = {promised_.number + 1, plan_.proposer};
  ask(Step::prepare, now, actions);
}

// By multiples of what the bid took: whoever comes first then has the time to end.
void RosterChange::stand_back(Instant now) {
  if (bids_ >= kBidsMax) {
    outcome_ = RosterOutcome::outbid;
    return;
  }
  const Duration most = std::min((now - bid_at_ + 1ms) * (1 << bids_), kStandBackMax);
  next_ = later(now, Duration(random_.below(static_cast<std::uint64_t>(most.count()))));
}

void RosterChange::ask(Step step, Instant now, Actions& actions) {
  step_ = step;
  ballot_ = Ballot(said_.size());
  // What was chosen is chosen, whoever is told of it in time. A rescue is chosen by being told.
  const bool is_durable = step != Step::learn || plan_.is_rescue;
  ballot_.open(now, is_durable ? std::max(plan_.node_timeout, kStoreTimeMin) : plan_.node_timeout);
  std::fill(said_.begin(), said_.end(), Said{});
  ask_all(said_.size(), actions);
}

NodeRequest RosterChange::question() const {
  switch (step_) {
    case Step::prepare:
      return group_prepare(plan_.from.roster.epoch + 1, bid_);
    case Step::accept:
      return group_accept(proposed_, bid_);
    case Step::learn:
      break;
  }
  return group_learn(result_);
}

void RosterChange::on_answer(NodeIndex node, NodeIdentity member, Answer answer, const Reply& reply,
                             Instant now, Actions& actions) {
  if (answer.is_vote() && member != plan_.members[node]) {
    answer.kind = AnswerKind::broken;
    answer.text = "is not the node that it was when the change began";
  }
  if (finished() || !ballot_.record(node, std::move(answer), now)) return;
  if (ballot_.answers()[node].kind == AnswerKind::yes) read(node, reply);
  look(now, actions);
}

void RosterChange::on_time(Instant now, Actions& actions) {
  if (finished()) return;
  if (next_ && now >= *next_) {
    next_.reset();
    return bid(now, actions);
  }
  ballot_.time_out(now);
  look(now, actions);
}

std::optional<Instant> RosterChange::next_deadline() const {
  if (finished()) return std::nullopt;
  if (next_) return next_;
  return is_hopeless() ? silence_from() : ballot_.deadline();
}

// What is not in the form of an answer is none.
void RosterChange::read(NodeIndex node, const Reply& reply) {
  Said& said = said_[node];
  if (step_ == Step::learn) return;
  const auto& items = reply.items();
  if (!reply.is(Reply::Kind::array) || items.empty()) return;
  const std::string_view word = items[0].text();
  if (word == "early" && items.size() == 2) wait_ = std::max(wait_, duration_of(items[1]));
  if (word == "epoch") return read_other_epoch(items);
  if (word == "behind" && items.size() == 2) {
    if (const auto told = parse_ballot(items[1].text())) promised_ = std::max(promised_, *told);
  }
  const std::size_t words = step_ == Step::prepare ? 5 : 3;
  if (word != "done" || items.size() != words) return;
  if (step_ == Step::prepare && !items[1].text().empty()) {
    const auto told = parse_ballot(items[1].text());
    auto roster = parse_roster(items[2].text());
    if (!told || !roster) return;
    if (!trouble_with_successor(plan_.from.roster, *roster).empty()) return;
    said.accepted_ballot = *told;
    said.accepted = std::move(roster).value();
  }
  said.done = true;
  if (items.back().is(Reply::Kind::integer)) said.counter = token_of(items.back());
  longest_ = std::max(longest_, duration_of(items[words - 2]));
}

void RosterChange::read_other_epoch(const std::vector<Reply>& items) {
  if (items.size() != 4) return;
  auto roster = parse_roster(items[1].text());
  if (!roster || roster->epoch <= plan_.from.roster.epoch) return;
  result_ = {std::move(roster).value(), duration_of(items[2]), token_of(items[3])};
  outcome_ = RosterOutcome::superseded;
}

std::size_t RosterChange::done() const {
  return static_cast<std::size_t>(
      std::count_if(said_.begin(), said_.end(), [](const Said& said) { return said.done; }));
}

std::size_t RosterChange::needed() const {
  return plan_.from.roster.epoch == 0 ? said_.size() : quorum_of(said_.size());
}

bool RosterChange::is_hopeless() const {
  return step_ != Step::learn && done() + ballot_.votes().outstanding() < needed();
}

// Whoever has said nothing until then is not waited for, where it can help no more.
Instant RosterChange::silence_from() const {
  return later(ballot_.start(), plan_.node_timeout);
}

void RosterChange::look(Instant now, Actions& actions) {
  if (finished() || next_) return;
  const std::size_t outstanding = ballot_.votes().outstanding();
  if (step_ == Step::learn) {
    if (outstanding > 0) return;
    const bool is_known = !plan_.is_rescue || ballot_.votes().yes() == said_.size();
    outcome_ = is_known ? RosterOutcome::chosen : RosterOutcome::no_quorum;
  } else if (done() >= needed() && tells_floor()) {
    go_on(now, actions);
  } else if (outstanding == 0 || (is_hopeless() && now >= silence_from())) {
    fail(now);
  }
}

void RosterChange::go_on(Instant now, Actions& actions) {
  if (step_ == Step::prepare) return propose(now, actions);
  result_ = {proposed_, longest_, floor_};
  ask(Step::learn, now, actions);
}

// Of the former epoch's tokens; a first roster has none. Also before anything is proposed: once a
// node has accepted it votes for nobody of its epoch, and could be told of no other. At least 1: 0
// says that none is known.
bool RosterChange::tells_floor() {
  if (plan_.from.roster.epoch == 0) return true;
  std::vector<Token> counters;
  for (const Said& said : said_) {
    if (said.done && said.counter) counters.push_back(*said.counter);
  }
  const auto read = floor_of(std::move(counters), said_.size());
  if (!read || read->is_apart()) return false;
  floor_ = std::max<Token>(read->token, 1);
  return true;
}

const RosterChange::Said* RosterChange::newest_accepted() const {
  const Said* newest = nullptr;
  for (const Said& said : said_) {
    const bool is_newer = newest == nullptr || said.accepted_ballot > newest->accepted_ballot;
    if (said.accepted_ballot.number > 0 && is_newer && may_be_chosen(said)) newest = &said;
  }
  return newest;
}

// A first roster needs all of its members.
bool RosterChange::may_be_chosen(const Said& said) const {
  if (plan_.from.roster.epoch > 0) return true;
  for (NodeIndex node = 0; node < said_.size(); ++node) {
    const bool is_member = names(said.accepted, plan_.members[node]);
    const bool has_accepted = said_[node].accepted == said.accepted;
    if (is_member && said_[node].done && !has_accepted) return false;
  }
  return true;
}

// Neither more nor fewer: a first roster is finished at all of its members, and at nobody else.
bool RosterChange::are_ours(const Roster& roster) const {
  if (roster.members.size() != plan_.members.size()) return false;
  return std::all_of(plan_.members.begin(), plan_.members.end(),
                     [&roster](NodeIdentity member) { return names(roster, member); });
}

void RosterChange::propose(Instant now, Actions& actions) {
  const Said* accepted = newest_accepted();
  proposed_ = accepted != nullptr ? accepted->accepted : plan_.wanted;
  if (!trouble_with_successor(plan_.from.roster, proposed_).empty()) {
    result_ = plan_.from;
    outcome_ = RosterOutcome::no_successor;
    return;
  }
  if (plan_.from.roster.epoch == 0 && !are_ours(proposed_)) {
    result_ = {proposed_, longest_, 0};
    outcome_ = RosterOutcome::other_group;
    return;
  }
  ask(Step::accept, now, actions);
}

void RosterChange::fail(Instant now) {
  if (promised_ > bid_) return stand_back(now);
  if (done() >= needed()) {
    outcome_ = RosterOutcome::no_floor;
    return;
  }
  outcome_ = wait_ > 0ns ? RosterOutcome::early : RosterOutcome::no_quorum;
}

}  // namespace redlock::coordinator
