// A command of the node: its spec, and the function that is it.
//
// One command is one short function from a Call to a Reply, in the file of its family. The same
// function serves a client and a script's redis.call.
#pragma once

#include "protocol/access/user.h"
#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/refusal.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session_commands.h"

#include <span>
#include <string_view>

namespace redlock::server {

using protocol::Refusal;
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

  // Whether its user is shown that there is such a key, or that somebody listens to the channel.
  bool may_see(std::string_view key) const {
    return !session.is_restricted() || session.user()->may_see(key);
  }
  bool may_hear(std::string_view channel) const {
    return !session.is_restricted() || session.user()->may_hear(channel);
  }

  std::string_view word(std::size_t i) const { return words[i]; }
  Instant instant() const { return now.monotonic; }
};

struct Command {
  protocol::CommandSpec spec;
  Reply (*run)(Call&);  // nullptr: a container, whose subcommands run
};

// Who executes the commands whose locks are not this node's own. A front door's sessions are those
// of a node, and their locks are at the nodes of its group:
//
//   {{"get", 2, …}, run_elsewhere}        // in the families that such a node is given
//
// The same checks come before as before any command: words, password, MULTI, pauses.
class Elsewhere {
 public:
  // Kind::later: the reply comes by Node::answer(). The call and its words end with this call.
  virtual Reply execute(Call& call) = 0;

 protected:
  ~Elsewhere() = default;
};

// A command's function. REQUIRES: the node was given an Elsewhere.
Reply run_elsewhere(Call& call);

// A session's command (protocol/session/session_commands.h) as one of the node's.
template <Reply (*SessionCommand)(protocol::SessionCall&)>
Reply of_session(Call& call) {
  return SessionCommand(call);
}

// Commands that belong together, and all of them: what a node can do is handed to its constructor
// (server/commands/families.h), so the node knows no command by name. They outlive the node.
using Family = std::span<const Command>;
using Families = std::span<const Family>;

}  // namespace redlock::server
