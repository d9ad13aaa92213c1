// What a client has to do with its group's roster: it follows the group to other nodes, and changes
// the roster as `redlock group` does.
#include "tests/simulation/lock_user.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using coordinator::ChangeResult;
using coordinator::RosterOutcome;

constexpr std::size_t kMembersMin = 3;
// An operator repeats a command that came to nothing.
constexpr unsigned kTries = 8;
constexpr Duration kRepeatAfter = 500ms;

std::string outcome_text(RosterOutcome outcome) {
  switch (outcome) {
    case RosterOutcome::chosen:
      return "chosen";
    case RosterOutcome::superseded:
      return "superseded";
    case RosterOutcome::no_successor:
      return "no successor";
    case RosterOutcome::other_group:
      return "another group";
    case RosterOutcome::early:
      return "too early";
    case RosterOutcome::no_quorum:
      return "no quorum";
    case RosterOutcome::no_floor:
      return "no floor";
    case RosterOutcome::outbid:
      return "outbid";
    case RosterOutcome::pending:
      break;
  }
  return "?";
}

bool may_be_repeated(RosterOutcome outcome) {
  return outcome == RosterOutcome::early || outcome == RosterOutcome::no_quorum ||
         outcome == RosterOutcome::no_floor || outcome == RosterOutcome::outbid;
}

}  // namespace

// As Client::Core::follow_node_changes does it.
void LockUser::follow_node_changes() {
  if (std::exchange(epoch_, roster().epoch) != roster().epoch) {
    adopted_at_ = agenda_.now();
    world_.rosters.note_taken_over(name(), roster());
  }
  if (node_changes_ == group_->node_changes()) return;
  node_changes_ = group_->node_changes();
  changed_nodes_at_ = agenda_.now();
  const auto& nodes = group_->nodes();
  for (std::size_t link = nodes.size(); link < connections_.size(); ++link) hang_up(link);
  connections_.resize(nodes.size());
  addresses_.resize(nodes.size());
  for (std::size_t link = 0; link < nodes.size(); ++link) {
    const unsigned address = node_of(nodes[link].name);
    if (std::exchange(addresses_[link], address) != address) hang_up(link);
  }
}

void LockUser::hang_up(std::size_t link) {
  if (!connections_[link]) return;
  world_.network.close(*connections_[link], Network::to_node);
  connections_[link].reset();
}

const Roster& LockUser::roster() const {
  static const Roster kNone;
  return group_ ? group_->roster().roster : kNone;
}

void LockUser::relist(std::vector<unsigned> list, Duration down) {
  tell(fmt::format("starts again with a list of {}", list.size()));
  list_ = std::move(list);
  kill(down);
}

// When its links are as good as they get: then it knows the roster, if one of them does.
void LockUser::change_group(const Event& event, MemberOf member_of) {
  whenever([=, this] {
    if (!group_) return;
    group_->when_ready(now(), [=, this] {
      const auto wanted = wanted_roster(event, member_of);
      if (wanted) change_group(*wanted, kTries);
    });
    turn();
  });
}

void LockUser::change_group(const Roster& wanted, unsigned tries) {
  std::string text;
  for (const RosterMember& member : wanted.members) text += " " + member.address;
  tell(fmt::format("wants epoch {} of the group:{}", wanted.epoch, text));
  const auto time = coordinator::RosterChange::kBidsMax * 3 *
                    std::max(coordinator::kStoreTimeMin, world_.scenario.node_timeout);
  const auto ended = must_end_within(time, "change of the group");
  const auto done = [=, this](const ChangeResult& result) {
    ended();
    tell(fmt::format("its change of the group comes to: {}", outcome_text(result.outcome)));
    if (tries <= 1 || !may_be_repeated(result.outcome)) return;
    agenda_.after(std::max(result.wait, kRepeatAfter), [=, this, life = life_] {
      whenever([=, this] {
        if (life != life_ || !group_ || wants_nothing_) return;
        change_group(wanted, tries - 1);
        turn();
      });
    });
  };
  wanting_.push_back(group_->change(wanted, now(), done));
}

// nullopt: it cannot be.
std::optional<Roster> LockUser::wanted_roster(const Event& event, const MemberOf& member_of) const {
  Roster wanted = roster();
  ++wanted.epoch;
  const auto add = [&](unsigned node) {
    auto member = member_of(node);
    if (!member) return false;
    member->since = wanted.epoch;
    wanted.members.push_back(std::move(*member));
    return true;
  };
  if (wanted.epoch == 1) {
    return std::all_of(list_.begin(), list_.end(), add) ? std::optional(wanted) : std::nullopt;
  }
  const auto newcomer = next_stranger(event.node);
  const bool leaves = event.other != 0;
  if (!newcomer && (event.node != 0 || wanted.members.size() <= kMembersMin)) return std::nullopt;
  if (leaves) {
    const auto place = (event.other - 1) % wanted.members.size();
    wanted.members.erase(wanted.members.begin() + static_cast<std::ptrdiff_t>(place));
  }
  const std::size_t more = std::min<std::size_t>(event.key, wanted.members.size() - 1);
  wanted.members.erase(wanted.members.begin(),
                       wanted.members.begin() + static_cast<std::ptrdiff_t>(more));
  if (newcomer && !add(*newcomer)) return std::nullopt;
  return wanted;
}

// The node, or the next one that is no member; nullopt: nobody joins.
std::optional<unsigned> LockUser::next_stranger(unsigned node) const {
  if (node == 0) return std::nullopt;
  for (unsigned i = 0; i < world_.scenario.nodes; ++i) {
    const unsigned number = (node - 1 + i) % world_.scenario.nodes + 1;
    const auto& members = roster().members;
    const bool is_member = std::any_of(members.begin(), members.end(), [&](const auto& member) {
      return member.address == node_name(number);
    });
    if (!is_member) return number;
  }
  return std::nullopt;
}

}  // namespace redlock::simulation
