// What a front door tells those who collect metrics: as INFO, in the format of metrics_text.h. No
// lock's name and no client's is among it.
#pragma once

#include "base/net/tls/tls_server.h"
#include "base/time.h"
#include "coordinator/front_door/front_door.h"
#include "coordinator/group/group.h"

#include <string>

namespace redlock::coordinator {

// group: the one behind the door. tls: nullptr where it speaks none to clients.
std::string door_metrics(const FrontDoor& door, const Group& group, const net::TlsServer* tls,
                         Now now);

}  // namespace redlock::coordinator
