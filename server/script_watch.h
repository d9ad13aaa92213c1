// ScriptWatch: who looks after scripts that run too long.
//
// The node reads no clock while a script runs, so somebody outside must: the shell's timer signal
// (script_watchdog.h), the simulator, or nobody.
#pragma once

#include "lua/engine.h"

namespace redlock::server {

class ScriptWatch {
 public:
  virtual ~ScriptWatch() = default;
  // From now on: engine.interrupt() once the script has run for busy-reply-threshold, and
  // engine.abort_running() after script-time-limit.
  virtual void script_began(lua::Engine& engine) = 0;
  virtual void script_ended() = 0;
};

}  // namespace redlock::server
