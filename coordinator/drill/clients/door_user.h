// A client of a drill at front doors: single-node lock code, as most of the world has it. It
// believes that each door is the one Redis, talks to any of them, and relies on its lock for the
// TTL from when it reads the OK, by its own clock.
//
// With a fence it takes tokens (LOCK.ACQUIRE). Without, it is SET NX PX and the scripts of the
// recipe, and half of the locks that it lets run out have the value "1". No other has: a release by
// such a value may wait in a stopped door, as in a stopped Redis, until the lock is another's.
#pragma once

#include "coordinator/drill/clients/client_settings.h"
#include "coordinator/drill/world/history_file.h"
#include "coordinator/drill/world/store_link.h"
#include <redlock/result.h>

namespace redlock::drill {

// As run_client_process, which calls it. REQUIRES: the doors are at unix sockets.
Status use_doors(const ClientProcessSettings& settings, HistoryWriter history, StoreLink store);

}  // namespace redlock::drill
