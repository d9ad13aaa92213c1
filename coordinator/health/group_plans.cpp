#include "coordinator/health/group_plans.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using Nodes = std::vector<NodeState>;

Error refusal(std::string text) {
  return {ErrorCode::invalid, std::move(text), {}};
}

bool is_fenced(const NodeState& node) {
  return node.fenced.value_or(false);
}

const GroupMember* find(const GroupRoster& roster, const NodeState& node) {
  const auto found = std::find_if(
      roster.members.begin(), roster.members.end(), [&node](const GroupMember& member) {
        return member.id == node.node_id && member.ledger == node.ledger_id;
      });
  return found == roster.members.end() ? nullptr : &*found;
}

std::size_t members_among(const Nodes& nodes, const GroupRoster& roster) {
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(),
                    [&roster](const NodeState& node) { return find(roster, node) != nullptr; }));
}

// A member that is not there, is not said to be gone, and may vote in the old roster one day.
const GroupMember* unaccounted(const Nodes& nodes, const GroupRoster& roster,
                               const std::vector<std::string>& gone) {
  for (const GroupMember& member : roster.members) {
    const bool is_there = std::any_of(nodes.begin(), nodes.end(), [&member](const NodeState& node) {
      return node.node_id == member.id;
    });
    const bool is_gone = std::any_of(gone.begin(), gone.end(), [&member](const std::string& name) {
      return name == member.node || name == member.id;
    });
    if (!is_there && !is_gone) return &member;
  }
  return nullptr;
}

// Why this roster is not to be rescued, or not by these nodes; empty: it is.
std::string trouble_with(const Nodes& nodes, const GroupRoster& known,
                         const std::vector<std::string>& gone) {
  if (known.epoch == 0) return "";
  const std::size_t members = known.members.size();
  if (members_among(nodes, known) >= quorum_of(members)) {
    return "a quorum of the members has its ledgers: nothing is to be rescued. A member that lost "
           "its ledger is named anew by itself, or by `redlock group replace`";
  }
  if (nodes.size() != members) {
    return fmt::format(
        "the group has {} members and {} nodes are named: name as many, new ones in "
        "place of those that are gone",
        members, nodes.size());
  }
  if (const GroupMember* member = unaccounted(nodes, known, gone)) {
    return fmt::format(
        "{} is a member and not among the nodes named: name it, or if it never "
        "comes back, say so: --gone {}",
        member->node, member->node);
  }
  return "";
}

// Those that still have their ledgers stay as they are; before a first roster all do.
GroupRoster rescued(const Nodes& nodes, const GroupRoster& known, GroupRoster roster) {
  roster.epoch = known.epoch + kRescueLeap;
  if (known.epoch == 0) return roster;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GroupMember* before = find(known, nodes[i]);
    roster.members[i].since = before != nullptr ? before->since : roster.epoch;
  }
  return roster;
}

bool names_all(const Nodes& nodes, const GroupRoster& known) {
  return known.epoch > 0 && nodes.size() == known.members.size() &&
         members_among(nodes, known) == nodes.size();
}

// A lost ledger's counter may have been the one that knew.
std::string trouble_with_floor(const Nodes& nodes, std::size_t fenced,
                               std::optional<std::uint64_t> floor) {
  std::uint64_t least = 0;
  for (const NodeState& node : nodes) {
    least = std::max(least, node.counter.value_or(0));
    if (is_fenced(node)) least = std::max(least, node.bound.value_or(0));
  }
  const bool is_known = nodes.size() - fenced < quorum_of(nodes.size());
  if (!floor && !is_known) {
    return fmt::format(
        "--floor N is needed: a number that no token ever given is above, such as the largest that "
        "whatever checks tokens has stored. Those that are lost may have given more than {}, which "
        "is what the nodes tell",
        least);
  }
  if (floor.value_or(least) >= least) return "";
  return fmt::format("the floor {} is below {}, which the nodes tell: tokens would come again",
                     *floor, least);
}

}  // namespace

GroupRoster newest(const Nodes& nodes) {
  GroupRoster newest;
  for (const NodeState& node : nodes) {
    if (node.roster.epoch > newest.epoch) newest = node.roster;
  }
  return newest;
}

Result<GroupRoster, Error> first_roster(const Nodes& nodes) {
  GroupRoster roster{1, {}};
  for (const NodeState& node : nodes) {
    const bool answers = node.answer.kind == AnswerKind::yes;
    if (!answers || node.ledger_id.empty()) {
      const char* what = answers ? "knows nothing of groups" : "does not answer";
      return Error{ErrorCode::no_quorum,
                   fmt::format("a roster of these nodes needs all of them, and {} {}",
                               node.answer.node, what),
                   {node.answer}};
    }
    roster.members.push_back({node.answer.node, node.node_id, node.ledger_id, 1});
  }
  return roster;
}

std::optional<GroupRoster> local_roster(const Nodes& nodes) {
  GroupRoster roster = newest(nodes);
  if (roster.epoch == 0) {
    auto first = first_roster(nodes);
    return first ? std::optional(std::move(first).value()) : std::nullopt;
  }
  ++roster.epoch;
  for (const NodeState& node : nodes) {
    if (node.ledger_id.empty() || find(roster, node) != nullptr) continue;
    for (GroupMember& member : roster.members) {
      if (member.node != node.answer.node) continue;
      member = {node.answer.node, node.node_id, node.ledger_id, roster.epoch};
      return roster;
    }
  }
  return std::nullopt;
}

Result<RescuePlan, Error> plan_rescue(const Nodes& nodes, const OperatorsRescue& by_operator) {
  auto all = first_roster(nodes);
  if (!all) return all.error();
  const GroupRoster known = newest(nodes);
  RescuePlan plan;
  if (names_all(nodes, known)) {
    plan.roster = known;
    plan.is_told = std::all_of(nodes.begin(), nodes.end(),
                               [&known](const NodeState& node) { return node.roster == known; });
  } else {
    const std::string trouble = trouble_with(nodes, known, by_operator.gone);
    if (!trouble.empty()) return refusal(trouble);
    plan.roster = rescued(nodes, known, std::move(all).value());
  }
  std::size_t fenced = 0;
  for (const NodeState& node : nodes) {
    const std::uint64_t since = find(plan.roster, node)->since;
    const bool joins = since > 1 && since > node.roster.epoch;  // and is unfenced by that
    if (is_fenced(node) && !joins) ++fenced;
  }
  plan.is_new_group = fenced < quorum_of(nodes.size());
  if (plan.is_new_group) {
    const std::string trouble = trouble_with_floor(nodes, fenced, by_operator.floor);
    if (!trouble.empty()) return refusal(trouble);
  }
  return plan;
}

}  // namespace redlock::coordinator
