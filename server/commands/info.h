// INFO: the node's state as text, sections and names as in Redis, and our own sections last.
//
// Where a name is Redis's, its meaning is too; a field of Redis that would have no meaning here is
// left out, but for those that clients refuse to work without. redis-cli --stat takes the first
// text match of its fields (used_memory, connected_clients, loading, db0:keys …), so no earlier
// field may contain one of these names.
#pragma once

#include "base/time.h"
#include "protocol/resp/request.h"

#include <string>

namespace redlock::server {

class Node;

// `sections`: names in any case; none or "default" leaves out the long ones (commandstats,
// latencystats), "all" and "everything" do not. Unknown names are passed over, as Redis does.
std::string info_text(Node& node, protocol::Request sections, Now now);

}  // namespace redlock::server
