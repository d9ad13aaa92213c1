// What the nodes' answers to a survey come to: who holds a lock, and in what state a node is.
#pragma once

#include "coordinator/group/group.h"
#include <redlock/client.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

// The questions of a survey that holder_of reads, in this order.
inline constexpr std::array kHolderQuestions = {RequestKind::holder};
// The questions that node_state reads: a redlock-node has a command for its state, and its INFO
// tells the clock; a plain Redis answers both with its INFO.
inline constexpr std::array kStateQuestions = {RequestKind::status, RequestKind::info};

// Of one name: by node what it holds, if it told. nodes: of the group.
std::optional<Holder> holder_of(const std::vector<std::optional<NodeReading>>& readings,
                                std::size_t nodes);
// The value that a quorum holds, if there is one, and the token that a quorum stores with it
// (rule F5: what one node tells is a proposal).
std::optional<Holder> holder_of(const std::vector<NodeFinding>& findings);
// The same of a quorum's reading, which nodes that answer later are not in.
std::optional<Holder> holder_of(const ReadResult& result);

// A plain Redis says less than a redlock-node. clock_drift: of this coordinator.
NodeState node_state(const std::string& node, const NodeFinding& finding, double clock_drift);

}  // namespace redlock::coordinator
