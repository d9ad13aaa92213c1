// Redisson's FencedLock with fencing tokens of a quorum (rule F3).
//
// On one Redis its scripts count the tokens in a key beside the lock, which starts anew when that
// is lost. At a front door the token of the lock itself takes the counter's place: no such key is
// made, and whoever asks for it is told the token of the lock as it is held now.
#pragma once

#include "coordinator/front_door/served/command_body.h"
#include "server/node/command.h"

#include <memory>

namespace redlock::coordinator {

// nullptr: the command is none of FencedLock's. The scratch node outlives it.
std::unique_ptr<CommandBody> fenced_body(ScratchNode& scratch, server::Call& call);

// Whether a run of anything else would make such a counter, as the script in a transaction does:
// what it counts are no tokens, so the run is to be refused (kCounterIsToken).
bool makes_counter(const RunResult& run);

}  // namespace redlock::coordinator
