// What the C functions of the sandbox know of the script that calls them.
//
// Lua keeps the pointer to it in the extra space of each of its threads, so there is no global.
#pragma once

#include "lua/library/script_random.h"
#include "protocol/resp/reply_writer.h"

#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lua.hpp>

namespace redlock::lua {

class ScriptHost;
class WordTables;

struct ScriptContext {
  ScriptHost* host = nullptr;
  const WordTables* args = nullptr;                      // ARGV
  protocol::Version version = protocol::Version::resp2;  // what redis.setresp chose
  ScriptRandom random;
  // Set by abort_running() and abort_stuck(): from then on nothing that works, or reaches the host,
  // may begin.
  volatile std::sig_atomic_t is_aborted = 0;
  volatile std::sig_atomic_t is_stuck = 0;  // what of the two it was
  // The words of the command that redis.call is making. Kept between calls, so that a warm call
  // allocates nothing.
  std::vector<std::string_view> words;

  std::string suspended_at;  // the place in the script; empty if it was not

  std::size_t string_bytes_max = 0;  // a longer string can never be made
  std::size_t script_bytes_max = 0;  // for load(), too
  int slice_instructions = 0;
  std::string redis_version;
};

inline ScriptContext& script_context(lua_State* lua) {
  return **static_cast<ScriptContext**>(lua_getextraspace(lua));
}

// What a script says that was aborted.
std::string_view abort_error(const ScriptContext& context);
// Raises it. Does not return.
void raise_abort(lua_State* lua);

// To be called by every C function that works for long, or reaches the host: scripts can chain such
// functions (table.sort(t, string.find)) so that no instruction, and so no hook,
// comes between them.
inline void stop_if_aborted(lua_State* lua) {
  if (script_context(lua).is_aborted != 0) raise_abort(lua);
}

}  // namespace redlock::lua
