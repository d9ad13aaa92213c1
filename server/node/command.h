// A command of the node: its spec, and the function that is it.
//
// One command is one short function from a Call to a Reply, in the file of its family. The same
// function serves a client and a script's redis.call.
#pragma once

#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session_commands.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace redlock::server {

using protocol::Reply;

class Node;
struct Command;

// One command under way.
struct Call : protocol::SessionCall {
  Node& node;
  const Command& command;
  bool from_script;
  // Queued by MULTI, executed by EXEC. Such a command answers with a reply, not with bytes in its
  // session, and at once: what may answer later is kNoMulti, or does not wait here.
  bool in_transaction = false;

  std::string_view word(std::size_t i) const { return words[i]; }
  Instant instant() const { return now.monotonic; }
};

struct Command {
  protocol::CommandSpec spec;
  Reply (*run)(Call&);  // nullptr: a container, whose subcommands run
};

// A session's command (protocol/session/session_commands.h) as one of the node's.
template <Reply (*SessionCommand)(protocol::SessionCall&)>
Reply of_session(Call& call) {
  return SessionCommand(call);
}

// The families, each in its file. The tables live for ever.
std::span<const Command> connection_commands();
std::span<const Command> lock_commands();
std::span<const Command> string_commands();
std::span<const Command> counter_commands();
std::span<const Command> key_commands();
std::span<const Command> keyspace_commands();
std::span<const Command> hash_commands();
std::span<const Command> object_commands();
std::span<const Command> wait_commands();
std::span<const Command> quorum_commands();
std::span<const Command> script_commands();
std::span<const Command> pubsub_commands();
std::span<const Command> admin_commands();
std::span<const Command> debug_commands();
std::span<const Command> cluster_commands();
std::span<const Command> transaction_commands();
std::span<const Command> observing_commands();

}  // namespace redlock::server
