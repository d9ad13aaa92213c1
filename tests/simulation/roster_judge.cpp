#include "tests/simulation/roster_judge.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

constexpr std::string_view kNamePrefix = "node";

// Such as "epoch 2: node1 node2 node6+"; the plus: new with this epoch.
std::string short_text(const Roster& roster) {
  std::string text = fmt::format("epoch {}:", roster.epoch);
  for (const RosterMember& member : roster.members) {
    text += fmt::format(" {}{}", member.address, member.since == roster.epoch ? "+" : "");
  }
  return text;
}

}  // namespace

std::string node_name(unsigned node) {
  return fmt::format("{}{}", kNamePrefix, node);
}

unsigned node_of(const std::string& name) {
  unsigned node = 0;
  std::from_chars(name.data() + kNamePrefix.size(), name.data() + name.size(), node);
  return node;
}

void RosterJudge::note(unsigned node, const RosterMember& self,
                       const server::RosterRecord& record) {
  const Seen now{record.current.epoch, record.accepted_ballot};
  Seen& before = seen_[node];
  if (now == before) return;
  const bool is_other_roster = now.epoch != before.epoch;
  before = now;
  if (record.has_accepted()) {
    Accepted& accepted = accepted_[{record.accepted.epoch, record.accepted_ballot}];
    accepted.roster = record.accepted;
    accepted.ledgers.insert(self.ledger);
    look_at(accepted);
  }
  if (is_other_roster) note_taken_over(node_name(node), record.current);
}

bool RosterJudge::goes_by_roster(unsigned node) const {
  const auto seen = seen_.find(node);
  return seen != seen_.end() && seen->second.epoch > 0;
}

void RosterJudge::look_at(const Accepted& accepted) {
  if (is_chosen(accepted)) choose(accepted.roster);
}

// The first roster is chosen by all of its members.
bool RosterJudge::is_chosen(const Accepted& accepted) const {
  const bool is_first = accepted.roster.epoch == 1;
  const auto former = chosen_.find(accepted.roster.epoch - 1);
  if (!is_first && former == chosen_.end()) return false;
  const auto& voters = is_first ? accepted.roster.members : former->second.members;
  const auto votes = std::count_if(voters.begin(), voters.end(), [&](const RosterMember& member) {
    return accepted.ledgers.contains(member.ledger);
  });
  return static_cast<std::size_t>(votes) >=
         (is_first ? voters.size() : coordinator::quorum_of(voters.size()));
}

void RosterJudge::choose(const Roster& roster) {
  const auto [known, is_new] = chosen_.try_emplace(roster.epoch, roster);
  if (!is_new && known->second == roster) return;
  if (!is_new) {
    referee_.found(Breach::two_rosters, fmt::format("two rosters are chosen: {}, and {}",
                                                    short_text(known->second), short_text(roster)));
    return;
  }
  if (story_.tells_events()) {
    story_.tell(agenda_.now(), "group", std::nullopt, short_text(roster) + " is chosen");
  }
  const auto former = chosen_.find(roster.epoch - 1);
  const Roster none;
  const auto trouble =
      trouble_with_successor(former == chosen_.end() ? none : former->second, roster);
  if (trouble.empty()) return;
  referee_.found(Breach::no_successor,
                 fmt::format("{} cannot follow: {}", short_text(roster), trouble));
}

void RosterJudge::note_taken_over(const std::string& who, const Roster& roster) {
  if (roster.epoch == 0) return;
  const auto chosen = chosen_.find(roster.epoch);
  if (chosen != chosen_.end() && chosen->second == roster) return;
  referee_.found(Breach::unchosen, fmt::format("{} goes by a roster that was not chosen: {}", who,
                                               short_text(roster)));
}

const Roster& RosterJudge::newest() const {
  static const Roster kNone;
  return chosen_.empty() ? kNone : chosen_.rbegin()->second;
}

}  // namespace redlock::simulation
