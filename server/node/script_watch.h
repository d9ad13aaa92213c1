// ScriptWatch: who looks after scripts that run too long.
//
// The node reads no clock while a script runs, so somebody outside must: the shell's timer signal
// (script_watchdog.h), the simulator, or nobody.
#pragma once

#include "base/time.h"
#include "lua/engine/engine.h"

namespace redlock::server {

// Work of a script that cannot be suspended holds up everybody for no longer.
inline constexpr Duration kStuckAfter = 20ms;

class ScriptWatch {
 public:
  virtual ~ScriptWatch() = default;
  // A script begins, or is compiled. From now on: engine.interrupt() once it has run for
  // busy-reply-threshold, engine.abort_running() after script-time-limit, and engine.abort_stuck()
  // when it has not given way for kStuckAfter since then, or takes that long to compile.
  virtual void script_began(lua::Engine& engine) = 0;
  virtual void script_ended() = 0;
};

}  // namespace redlock::server
