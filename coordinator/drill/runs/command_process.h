// The command of a `redlock run` in a drill: processes of its own, `redlock drill command`, that
// work until their time is over, in the ways of real commands (command_kind.h). All of them beat on
// the work board (work_board.h) every few milliseconds, and write to the store now and then, with
// the token from the environment. What the store answers is nothing to them: they are the careless
// ones, that must be ended in time.
#pragma once

#include "base/time.h"
#include "coordinator/drill/runs/command_kind.h"
#include <redlock/result.h>

#include <cstddef>
#include <string>

namespace redlock::drill {

struct CommandProcessSettings {
  std::string hold;  // "client 3/17": of the run, and whose it is
  CommandKind kind = CommandKind::plain;
  Duration length{0};   // of the work
  std::string store;    // the path of its socket
  std::string board;    // the path of its file
  std::size_t run = 0;  // its place on the board
};

// Until the work is done, or the drill is over or gone. The error is for people.
//
// REQUIRES: the environment of a command of `redlock run`.
Status run_command_process(const CommandProcessSettings& settings);

}  // namespace redlock::drill
