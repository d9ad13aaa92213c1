// A group's roster in the library's words.
#pragma once

#include "base/roster.h"
#include <redlock/client.h>

namespace redlock::coordinator {

GroupRoster public_roster(const Roster& roster);
// Fails for what is no roster: see base/roster.h.
Result<Roster> read_roster(const GroupRoster& roster);

}  // namespace redlock::coordinator
