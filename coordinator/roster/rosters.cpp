#include "coordinator/roster/rosters.h"

#include "base/invariant.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

bool is_of(const RosterMember& member, const Link& link) {
  return link.member_identity() == member_identity_of(member.id, member.ledger);
}

// Whether the link has led to a member, if only on its last connection.
bool leads_to_member(const Link& link, const Roster& roster) {
  return std::any_of(roster.members.begin(), roster.members.end(),
                     [&link](const RosterMember& member) { return is_of(member, link); });
}

bool leads_there_alone(NodeIndex node, std::span<const Link> links) {
  const NodeIdentity member = links[node].member_identity();
  return std::count_if(links.begin(), links.end(), [member](const Link& link) {
           return link.member_identity() == member;
         }) == 1;
}

bool has_met_nobody(const Link& link) {
  return link.identity() == NodeIdentity::unknown;
}

bool has_address(const std::vector<NamedNode>& nodes, const std::string& address) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&address](const NamedNode& node) { return node.name == address; });
}

bool names_address(const Roster& roster, const std::string& address) {
  return std::any_of(roster.members.begin(), roster.members.end(),
                     [&address](const RosterMember& member) { return member.address == address; });
}

bool are_of_one_group(const Roster& a, const Roster& b) {
  return (a.epoch < b.epoch ? descent_of(b, a) : descent_of(a, b)) == Descent::same_group;
}

std::vector<const RosterMember*> unmet_members(const Roster& roster, std::span<const Link> links) {
  std::vector<const RosterMember*> unmet;
  for (const RosterMember& member : roster.members) {
    const bool is_met = std::any_of(links.begin(), links.end(),
                                    [&member](const Link& link) { return is_of(member, link); });
    if (!is_met) unmet.push_back(&member);
  }
  return unmet;
}

}  // namespace

Rosters::Rosters(const std::vector<NamedNode>& given, bool as_named)
    : given_(given),
      nodes_(given),
      as_named_(as_named),
      refusal_(as_named ? "is asked as it was named, for no vote" : "") {}

Rosters::Met Rosters::meet(NodeIndex node, std::span<const Link> links) {
  if (as_named_) return Met::refused;
  const Roster& told = links[node].facts().status.roster;
  const Roster& ours = chosen_->roster;
  if (told.epoch > ours.epoch && ours.epoch > 0) {
    return may_come_to(told) ? Met::newer : Met::other_group;
  }
  if (told.epoch > ours.epoch) {
    const Met first = judge_first(told, links);
    if (first != Met::newer) return first;
    refusal_ = trouble_with(told, node);
    return refusal_.empty() ? Met::newer : Met::refused;
  }
  if (!refusal_.empty()) return Met::refused;
  const NodeStatus& status = links[node].facts().status;
  if (!is_welcome(links[node])) return has_returned(status) ? Met::returned : Met::no_member;
  if (ours.epoch > 0 && status.accepted.epoch == ours.epoch + 1) begun_ = status.accepted;
  return Met::welcome;
}

bool Rosters::may_come_to(const Roster& told) const {
  const Roster& ours = chosen_->roster;
  const bool is_first = ours.epoch == 0;
  return told.epoch > ours.epoch && (is_first || descent_of(told, ours) == Descent::same_group);
}

// One at a time is named anew (rule G2).
bool Rosters::has_returned(const NodeStatus& status) {
  for (const RosterMember& member : chosen_->roster.members) {
    if (member.id != status.node_id) continue;
    returned_ = member;
    returned_->ledger = status.ledger_id;
    returned_->since = chosen_->roster.epoch + 1;
    return true;
  }
  return false;
}

Roster Rosters::wanted() const {
  INVARIANT(has_work(), "a change that nobody wants");
  if (!returned_) return *begun_;
  Roster roster = chosen_->roster;
  ++roster.epoch;
  for (RosterMember& member : roster.members) {
    if (member.id == returned_->id) member = *returned_;
  }
  return roster;
}

// Half a list has quorums of its own. Of a whole one it does not matter where it leads: a node that
// is no member has no vote, be it a stranger, or one that was replaced, or lost its ledger and with
// it what it knew.
std::string Rosters::trouble_with(const Roster& told, NodeIndex node) const {
  if (told.members.size() == nodes_.size() || is_of_earlier_epoch(told)) return "";
  return fmt::format(
      "{} belongs to a group of {} nodes (epoch {}), and {} are named: name all of them, as "
      "`redlock group` at one of them shows",
      nodes_[node].name, told.members.size(), told.epoch, nodes_.size());
}

// Whose roster a list has. One of its addresses may lead to another group, whose roster looks as
// good; so it takes most of the list: the addresses, or where the nodes are known by others, what
// they tell. Of a list of which most nodes have gone since, more than one have to be left, and to
// agree, once there is nobody else to ask.
Rosters::Met Rosters::judge_first(const Roster& told, std::span<const Link> links) const {
  constexpr std::size_t kLeftMin = 2;
  const std::size_t most = quorum_of(nodes_.size());
  if (named_by(told) >= most) return Met::newer;
  std::size_t open = 0;
  std::set<NodeIdentity> same;
  std::set<NodeIdentity> others;
  for (const Link& link : links) {
    if (has_met_nobody(link)) {
      if (link.is_unfailed() && !link.is_settled()) ++open;
    } else {
      const bool is_same = are_of_one_group(link.facts().status.roster, told);
      (is_same ? same : others).insert(link.identity());
    }
  }
  if (same.size() >= most) return Met::newer;
  if (open > 0) return Met::unsure;
  const bool are_left = same.size() >= kLeftMin && same.size() > others.size();
  return are_left && is_of_earlier_epoch(told) ? Met::newer : Met::stray;
}

// So many of the list's addresses.
std::size_t Rosters::named_by(const Roster& told) const {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(),
                    [&told](const NamedNode& node) { return names_address(told, node.name); }));
}

// The members that it does not name have all joined since, and whoever else it names may have left
// since: one in an epoch.
bool Rosters::is_of_earlier_epoch(const Roster& told) const {
  const bool names_founders =
      std::all_of(told.members.begin(), told.members.end(), [this](const RosterMember& member) {
        return member.since > 1 || has_address(nodes_, member.address);
      });
  const std::size_t strangers = nodes_.size() - named_by(told);
  return names_founders && strangers < told.epoch;
}

NamedNode Rosters::node_at(const RosterMember& member) const {
  return {member.address, nodes_.front().credentials};
}

// A link that has met no node yet stays where it was sent to with a first roster, as that may well
// be a member; with a later one it goes to a member that is new. Of the members without a link
// those come first whose address nobody has: the others' may be where a link is on its way to.
Rosters::Sources Rosters::adopt(const ChosenRoster& chosen, std::span<const Link> links) {
  const bool is_first = chosen_->roster.epoch == 0;
  const Roster& roster = chosen.roster;
  std::vector<NamedNode> nodes;
  Sources sources;
  for (NodeIndex link = 0; link < links.size(); ++link) {
    const bool stays = has_met_nobody(links[link])
                           ? is_first || names_address(roster, nodes_[link].name)
                           : leads_to_member(links[link], roster);
    if (!stays || nodes.size() == roster.members.size()) continue;
    nodes.push_back(nodes_[link]);
    sources.emplace_back(link);
  }
  std::vector<const RosterMember*> unmet = unmet_members(roster, links);
  std::stable_partition(unmet.begin(), unmet.end(), [&nodes](const RosterMember* member) {
    return !has_address(nodes, member->address);
  });
  for (const RosterMember* member : unmet) {
    if (nodes.size() == roster.members.size()) break;
    nodes.push_back(node_at(*member));
    sources.emplace_back(std::nullopt);
  }
  INVARIANT(nodes.size() == roster.members.size(), "a roster has a link for each member");
  nodes_ = std::move(nodes);
  chosen_ = std::make_shared<const ChosenRoster>(chosen);
  refusal_.clear();  // it may come of a change, whatever the list
  begun_.reset();
  returned_.reset();
  ++changes_;
  return sources;
}

bool Rosters::is_welcome(const Link& link) const {
  const Roster& ours = chosen_->roster;
  return ours.epoch == 0 ? link.facts().status.roster.epoch == 0 : leads_to_member(link, ours);
}

bool Rosters::suits(const Roster& told, std::span<const Link> links) const {
  if (told.members.size() != links.size()) return false;
  for (NodeIndex node = 0; node < links.size(); ++node) {
    const bool has_failed = links[node].state() == Link::State::backing_off;
    if (has_failed && !names_address(told, nodes_[node].name)) return false;
  }
  return true;
}

// Where the roster sends a link that stands at an address of the list, or else the other way round.
std::vector<NamedNode> Rosters::elsewhere(NodeIndex node, std::span<const Link> links) const {
  const Roster& roster = chosen_->roster;
  if (roster.epoch == 0) return {};
  if (leads_to_member(links[node], roster) && leads_there_alone(node, links)) return {};
  std::vector<NamedNode> told;
  for (const RosterMember* member : unmet_members(roster, links)) {
    if (!has_address(nodes_, member->address)) told.push_back(node_at(*member));
  }
  std::vector<NamedNode> given;
  for (const NamedNode& one : given_) {
    if (!has_address(nodes_, one.name)) given.push_back(one);
  }
  const bool is_at_told = names_address(roster, nodes_[node].name);
  const bool takes_given = told.empty() || (is_at_told && !given.empty());
  return takes_given ? given : told;
}

bool Rosters::is_doubtful(NodeIndex node, std::span<const Link> links) const {
  return !names_address(chosen_->roster, nodes_[node].name) && !elsewhere(node, links).empty();
}

bool Rosters::look_elsewhere(NodeIndex node, std::span<const Link> links) {
  const std::vector<NamedNode> places = elsewhere(node, links);
  if (places.empty()) return false;
  nodes_[node] = places[looks_++ % places.size()];
  ++changes_;
  return true;
}

}  // namespace redlock::coordinator
