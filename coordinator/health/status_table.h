// The table of `redlock status`: a line per node, within 80 columns wherever the nodes'
// names allow that.
#pragma once

#include "base/text/json.h"
#include "coordinator/health/group_verdict.h"
#include <redlock/client.h>

#include <string>
#include <vector>

namespace redlock::coordinator {

// NODE STATE LEFT LOCKS MAX-TTL FENCED RTT VERSION, with line ends. What a node does not tell is
// "-". A name that is too long for the line loses its middle, unless two would look alike then.
std::string status_table(const std::vector<NodeState>& states, bool with_colours);

// What programs read: the same facts, under the names of the metrics.
JsonObject status_object(const std::vector<NodeState>& states, const GroupVerdict& verdict);

}  // namespace redlock::coordinator
