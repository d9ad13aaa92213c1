// Group's part about its roster (rules G): whom it meets, and how it comes to another one.
#include "coordinator/group/group.h"
#include "coordinator/group/operation.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// What is left of a change is finished after it, and twice as long at most: whoever began it has
// had its time then.
constexpr Duration kRosterWorkDelay = 300ms;
// After one that came to nothing.
constexpr Duration kRosterWorkRetry = 2s;
// A list that was refused may be that of the group after its next change.
constexpr Duration kLookAgainAfter = 1s;

}  // namespace

OperationId Group::change(const Roster& wanted, Instant now,
                          std::function<void(ChangeResult)> done) {
  return begin_change([this, wanted] { return plan_of_change(wanted); }, now, std::move(done));
}

// Whoever joins waits for what any of the nodes may have granted; it adds its own.
OperationId Group::rescue(const Roster& wanted, Instant now,
                          std::function<void(ChangeResult)> done) {
  const auto plan_of_rescue = [this, wanted] {
    RosterChange::Plan plan = plan_of_change(wanted);
    plan.is_rescue = true;
    for (const Link& link : parts_.links) {
      const NodeStatus& told = link.facts().status;
      plan.from.longest =
          std::max({plan.from.longest, told.former_longest_ttl, told.largest_ttl, told.max_ttl});
    }
    return plan;
  };
  return begin_change(plan_of_rescue, now, std::move(done));
}

RosterChange::Plan Group::plan_of_change(Roster wanted) {
  RosterChange::Plan plan{
      .from = roster(),
      .wanted = std::move(wanted),
      .proposer = parts_.random.below(std::numeric_limits<std::uint64_t>::max()),
      .members = {},
      .node_timeout = parts_.options.node_timeout};
  for (const Link& link : parts_.links) plan.members.push_back(link.member_identity());
  return plan;
}

OperationId Group::begin_change(std::function<RosterChange::Plan()> plan, Instant now,
                                std::function<void(ChangeResult)> done) {
  const auto tell = [this, done = std::move(done)](const RosterChange& change) {
    const bool is_newer =
        change.outcome() == RosterOutcome::chosen || change.outcome() == RosterOutcome::superseded;
    if (is_newer && !parts_.rosters.is_as_named() &&
        parts_.rosters.may_come_to(change.roster().roster)) {
      newer_roster_ = change.roster();
    }
    done({change.outcome(), change.roster().roster, change.wait(), change.answers()});
  };
  const OperationId id =
      begin(std::make_unique<ChangeOperation>(parts_, std::move(plan), tell), now);
  readiness_.push_back(id);
  return id;
}

// No node was told which epoch the requests are of, and so none was asked for its vote.
bool Group::has_said_nothing() const {
  return std::none_of(parts_.links.begin(), parts_.links.end(),
                      [](const Link& link) { return link.connection_began(); });
}

// As a rule the first node that a coordinator meets tells the roster: nothing begins anew for it.
void Group::begin_with_roster(Instant now) {
  parts_.rosters.begin_with(*std::exchange(newer_roster_, std::nullopt));
  for (Link& link : parts_.links) {
    link.set_roster(parts_.rosters.chosen());
    link.refuse_votes(parts_.rosters.refusal());  // empty, whatever was refused before
  }
  for (NodeIndex other = 0; other < parts_.links.size(); ++other) hasten(other, now);
}

// False: the node is not asked, or not yet.
bool Group::meet_member(NodeIndex node, Instant now) {
  Link& link = parts_.links[node];
  const NodeStatus& status = link.facts().status;
  const auto refuse = [&](std::string why) {
    if (!lead_elsewhere(node, now)) link.reject(AnswerKind::other_group, std::move(why), now);
    return false;
  };
  switch (parts_.rosters.meet(node, parts_.links)) {
    case Rosters::Met::welcome:
      break;
    case Rosters::Met::newer:
      newer_roster_ = {status.roster, status.former_longest_ttl, status.former_floor};
      if (!has_said_nothing() || !parts_.rosters.suits(status.roster, parts_.links)) return false;
      begin_with_roster(now);
      return meet_member(node, now);
    case Rosters::Met::unsure:  // whoever has yet to answer has a node timeout for it
      for (Link& other : parts_.links) {
        if (other.is_unfailed()) other.hasten(later(now, parts_.options.node_timeout));
      }
      return false;
    case Rosters::Met::stray:
      return refuse(fmt::format(
          "tells a group (epoch {}) that too few of the {} nodes named are known to belong to",
          status.roster.epoch, parts_.links.size()));
    case Rosters::Met::no_member:
      return refuse(fmt::format("{} (epoch {})", kIsNoMember, roster().roster.epoch));
    case Rosters::Met::other_group:
      return refuse(fmt::format("{} (epoch {}), not of this one (epoch {})", kIsOfAnotherGroup,
                                status.roster.epoch, roster().roster.epoch));
    case Rosters::Met::returned:
      schedule_roster_work(kRosterWorkDelay, now);
      return refuse(std::string(kLostItsLedger));
    case Rosters::Met::refused:
      for (Link& other : parts_.links) other.refuse_votes(parts_.rosters.refusal());
      if (!parts_.rosters.is_as_named()) look_again_at_ = later(now, kLookAgainAfter);
      break;
  }
  std::string unsafe = unsafe_settings(status, parts_.options.clock_drift);
  if (!unsafe.empty() && !parts_.options.unsafe_members) {
    link.reject(AnswerKind::unsafe, std::move(unsafe), now);
    return false;
  }
  if (parts_.rosters.has_work()) schedule_roster_work(kRosterWorkDelay, now);
  return true;
}

// A link that comes to no member may be of more use at an address that no other has: at once for
// the first time, as its requests wait for it, and then with each dial. What was sent on a
// connection that was ready fails with it.
bool Group::lead_elsewhere(NodeIndex node, Instant now) {
  Link& link = parts_.links[node];
  if (link.is_ready()) return false;
  const bool is_first = link.is_unfailed() && parts_.rosters.is_doubtful(node, parts_.links);
  const bool is_next_dial = link.state() == Link::State::backing_off;
  if (!is_first && !is_next_dial) return false;
  if (!parts_.rosters.look_elsewhere(node, parts_.links)) return false;
  link.start_elsewhere(now);
  return true;
}

// Where nobody may be it waits for half of the time that an answer has: the other half is for the
// member that it comes to then.
void Group::hasten(NodeIndex node, Instant now) {
  Link& link = parts_.links[node];
  if (!link.is_unfailed() || !parts_.rosters.is_doubtful(node, parts_.links)) return;
  link.hasten(later(now, parts_.options.node_timeout / 2));
}

void Group::follow(const ChosenRoster& roster) {
  const ChosenRoster& latest = newer_roster_ ? *newer_roster_ : this->roster();
  const bool is_first = latest.roster.epoch == 0;
  if (!is_first && roster.roster.epoch > latest.roster.epoch) newer_roster_ = roster;
}

void Group::look_for_newer_roster(Instant now) {
  constexpr std::array kQuestion = {RequestKind::status};
  const auto tell = [this, now](const std::vector<NodeFinding>& findings) {
    if (!parts_.rosters.refusal().empty()) return;  // look_again() does it
    for (NodeIndex node = 0; node < findings.size(); ++node) {
      const auto& replies = findings[node].replies;
      const auto status = replies.empty() ? std::nullopt : read_node_status(replies.front());
      if (!status || status->roster.epoch <= roster().roster.epoch) continue;
      Link& link = parts_.links[node];
      if (!link.is_ready()) continue;
      link.ask_again_who_it_is(now);
      link_changed(node, now);
    }
  };
  survey(kQuestion, "", now, tell);
}

// Votes of two epochs never count together (rule G1). So every connection ends, and with them what
// is under way at them; what they owe goes out with the next ones, which say the new epoch.
void Group::adopt_roster(Instant now) {
  for (const Slot& slot : slots_) {
    if (slot.operation) slot.operation->leave_nodes(now);
  }
  for (NodeIndex node = 0; node < parts_.links.size(); ++node) {
    parts_.links[node].end_for_change(now);
    link_changed(node, now);
  }
  deliver(now);
  const ChosenRoster newer = *std::exchange(newer_roster_, std::nullopt);
  parts_.change_nodes(parts_.rosters.adopt(newer, parts_.links), now);
  for (NodeIndex node = 0; node < parts_.links.size(); ++node) hasten(node, now);
  for (const Slot& slot : slots_) {
    if (slot.operation) slot.operation->on_nodes_changed(now);
  }
}

// Of a group whose list was refused nothing is heard on connections that are open: each in its turn
// is made anew.
void Group::look_again(Instant now) {
  if (!look_again_at_ || now < *look_again_at_) return;
  look_again_at_.reset();
  if (parts_.rosters.refusal().empty()) return;
  look_again_at_ = later(now, kLookAgainAfter);
  const auto node = static_cast<NodeIndex>(++looks_again_ % parts_.links.size());
  Link& link = parts_.links[node];
  const bool is_idle = !link.is_behind() && link.outgoing().empty();
  if (!link.is_ready() || !is_idle) return;
  link.ask_again_who_it_is(now);
  link_changed(node, now);
}

// Whoever meets a change that was begun finishes it, and a member that lost its ledger is named
// anew (rules G2, G4): after a while, as others may be at it.
void Group::schedule_roster_work(Duration least, Instant now) {
  if (roster_work_at_ || !parts_.options.admit_unfenced) return;
  const auto spread = parts_.random.below(static_cast<std::uint64_t>(kRosterWorkDelay.count()));
  roster_work_at_ = later(now, least + Duration(spread));
}

void Group::look_after_roster(Instant now) {
  if (!roster_work_at_ || now < *roster_work_at_) return;
  if (!parts_.rosters.has_work()) return roster_work_at_.reset();
  roster_work_at_ = kNever;
  const Instant began = now;
  const auto on_end = [this, began](const ChangeResult& result) {
    roster_work_at_.reset();
    if (!parts_.rosters.has_work() || newer_roster_) return;
    schedule_roster_work(std::max(result.wait, kRosterWorkRetry), began);
  };
  change(parts_.rosters.wanted(), now, on_end);
}

}  // namespace redlock::coordinator
