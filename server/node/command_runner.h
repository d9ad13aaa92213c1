// CommandRunner: how scripts and transactions have a command run, by the way that all commands go.
#pragma once

#include "base/time.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session.h"
#include "server/node/command_table.h"

namespace redlock::server {

class CommandRunner {
 public:
  enum class Origin { client, script, transaction };

  // Counted, observed, not refused any more. now: of the script, or of the EXEC (rule C4).
  virtual protocol::Reply run(protocol::Session& session, protocol::Request request, Now now,
                              CommandTable::Entry& entry, Origin origin) = 0;
  // Lua begins to work, on a script or on its text: from here on it is timed.
  virtual void note_lua_begins() = 0;
  // Whether the node takes more than maxmemory.
  virtual bool is_above_maxmemory() const = 0;

 protected:
  ~CommandRunner() = default;
};

}  // namespace redlock::server
