// What a node tells those who collect metrics: as INFO and LOCK.STATUS, in the format of
// metrics_text.h. No lock's name and no client's is among it.
#pragma once

#include "base/time.h"
#include "server/node/node.h"
#include "server/shell/node_run.h"

#include <string>

namespace redlock::server {

std::string metrics_text(const Node& node, const LedgerWrites& writes, Now now);

}  // namespace redlock::server
