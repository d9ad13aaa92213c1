// LOCK.* at a front door: what a node has under these names, over a quorum.
//
//   LOCK.ACQUIRE key value PX ms [WAIT ms]   [1, token, ms]; [0, ms until it is free]
//   LOCK.EXTEND key value PX ms              [1, token, ms]; [0]
//   LOCK.RELEASE key value                   1; 0
//   LOCK.HOLDER key                          [value, ms left, token]; nil
//   LOCK.WAIT key ms [PUSH] [AT ticket]      as at a node
//   LOCK.STATUS                              what this door is, and how its nodes are
//
// A token is a quorum's (rule F3), or 0: no two of the nodes need have the same.
#pragma once

#include "server/node/command.h"

#include <string_view>

namespace redlock::coordinator {

// The front door executes all of them (server::Elsewhere).
server::Family door_lock_commands();
bool is_door_lock_command(std::string_view name);

}  // namespace redlock::coordinator
