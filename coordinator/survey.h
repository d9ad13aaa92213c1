// What the nodes' answers to a survey come to: who holds a lock, and in what state a node is.
#pragma once

#include "coordinator/group.h"
#include <redlock/client.h>

#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

// The questions of a survey that holder_of reads, in this order.
inline const std::vector<RequestKind> kHolderQuestions = {RequestKind::get, RequestKind::pttl};
// The question that node_state reads.
inline const std::vector<RequestKind> kStateQuestions = {RequestKind::info};

// The value that a quorum holds, if there is one.
std::optional<Holder> holder_of(const std::vector<Finding>& findings);

// Out of a node's INFO; a plain Redis says less than a redlock-node.
NodeState node_state(const std::string& node, const Finding& finding);

}  // namespace redlock::coordinator
