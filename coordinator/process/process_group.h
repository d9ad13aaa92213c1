// Who is left of a process group.
#pragma once

#include <sys/types.h>

namespace redlock::coordinator {

// Whether a process of the group still runs. Those that have ended and only wait to be reaped do
// not count: nobody may ever reap them (the first process of a container often does not), and
// kill(-group, 0) finds them all the same. So this reads /proc, which takes some milliseconds where
// thousands of processes run. What cannot be read counts as alive.
//
// A process that forks while we look can be missed: send SIGKILL to the group and look again before
// relying on a "no".
bool group_is_alive(pid_t group);

}  // namespace redlock::coordinator
