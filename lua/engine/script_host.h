// What a script meets outside of Lua: the node that it calls, and who ends it.
#pragma once

#include "base/log.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"

#include <string_view>

namespace redlock::lua {

// What redis.call and redis.log reach: the node.
class ScriptHost {
 public:
  virtual ~ScriptHost() = default;
  // One command. The request's views are valid until it returns; the reply's text may be views that
  // are valid until the next call. An error reply is raised by redis.call and returned by
  // redis.pcall. Must not use the engine, but for interrupt() and abort_running().
  virtual protocol::Reply call(protocol::Request request) = 0;
  virtual void log(LogLevel level, std::string_view text) = 0;
};

// Redis's words for the script that SCRIPT KILL ended: what to give kill().
inline constexpr std::string_view kKilledByUser = "ERR Script killed by user with SCRIPT KILL...";
// What a script says that abort_running() ended.
inline constexpr std::string_view kTimeLimitError =
    "ERR script stopped: it ran longer than script-time-limit";

// What a script says that abort_stuck() ended.
inline constexpr std::string_view kStuckError =
    "ERR script stopped: it ran longer than busy-reply-threshold, and then for long within one "
    "call "
    "that cannot be suspended, of string.find, match, gmatch or gsub, table.sort or the like: let "
    "one call do less";

}  // namespace redlock::lua
