// The commands of a front door: whose function each of them is.
//
// A door has two nodes. Its sessions are those of one, which checks and queues what clients send,
// and serves what is about the session or the process: HELLO, CLIENT, CONFIG, MULTI. The other is
// the scratch node (scratch_node.h), on which everything about keys runs, and scripts. Both have
// all commands, so that COMMAND tells them, and a script meets the same refusals as its client.
#pragma once

#include "protocol/resp/request.h"
#include "server/node/command.h"
#include "server/node/command_table.h"

#include <string_view>

namespace redlock::coordinator {

// What is about keys, scripts and transactions is executed elsewhere: by the front door.
server::Families session_families();
// Every command that a script or a transaction may have in it.
server::Families scratch_families();

// As a node has it. REQUIRES: there is such a command.
const server::Command& node_command(std::string_view name);

// Whether the command runs in the sessions' node, also between MULTI and EXEC.
// REQUIRES: it is known.
bool is_sessions_own(server::CommandTable& commands, protocol::Request request);

}  // namespace redlock::coordinator
