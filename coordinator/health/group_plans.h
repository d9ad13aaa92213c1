// Rosters that nobody decides on before: the first one, and that of a rescue. Both are planned from
// what the nodes tell, before anything is changed.
//
// A rescue is for a group that lost a quorum of its ledgers: no quorum can decide on its next
// roster, and nobody knows its largest token. What cannot be known an operator has to vouch for:
// that members which are not there never come back, and that no token above the floor
// was ever given.
#pragma once

#include <redlock/client.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

// That any of them goes by; of epoch 0 where none has a roster.
GroupRoster newest(const std::vector<NodeState>& nodes);

// Of epoch 1: all of these nodes. Error no_quorum: which of them does not answer,
// or cannot be a member.
Result<GroupRoster, Error> first_roster(const std::vector<NodeState>& nodes);

// For nodes on one machine, which nobody else looks after: their first roster, or the next one, in
// which a member that lost its ledger takes its own place again, one at a time. nullopt: nothing is
// to be done, or cannot be as long as nodes do not answer.
std::optional<GroupRoster> local_roster(const std::vector<NodeState>& nodes);

// Epochs between the newest roster that a node tells and that of a rescue: those that are lost may
// have gone on without the others, an epoch in each max-ttl at most.
inline constexpr std::uint64_t kRescueLeap = 1000;

struct RescuePlan {
  GroupRoster roster = {};  // of all of these nodes
  bool is_told = false;     // they go by it already: an earlier rescue was ended on its way
  // Of the admission behind it. No quorum is fenced then, so a floor is needed (rule F6).
  bool is_new_group = false;
};

struct OperatorsRescue {
  std::vector<std::string> gone = {};  // members, by address or node id
  std::optional<std::uint64_t> floor = {};
};

// Errors: no_quorum, a node does not answer; invalid, what the operator has to say or
// to do instead.
Result<RescuePlan, Error> plan_rescue(const std::vector<NodeState>& nodes,
                                      const OperatorsRescue& by_operator);

}  // namespace redlock::coordinator
