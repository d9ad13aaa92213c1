// The guard process of a GuardedCommand: the command's parent, and a dead man's switch (rule H1).
//
//     redlock run ──── bell, board ──── guard ──── command ──── whatever it starts
//
// It waits with a timer of its own for the instant at which the lock counts as lost, which the loop
// moves on with each extension. When that passes it tells the command to end, and at the end of the
// notice kills it, whatever the loop does meanwhile: stopped, swapped out, stuck in a write. When
// the loop dies (kill -9) the bell's other end closes, and the guard kills at once.
//
// What it kills is all that descends from the command. It is the subreaper of that: an orphan, a
// daemon, a child with a session of its own stays below it, wherever it went. Its own end, by
// kill -9, ends the command as well (parent-death signal); the loop, which is the next subreaper,
// looks after the rest.
//
// The guard has a process group of its own and blocks all signals, so what ends or stops a job, the
// terminal's keys among it, does not reach it. It is in the session of the command, which therefore
// is no orphaned group: Ctrl-Z works. It owns two pipes and a socket, nothing of the loop's: not a
// connection to a node, nor the end of somebody's pipe.
//
// It is forked from a process with threads, so it allocates nothing and takes no lock.
#pragma once

#include "base/time.h"
#include "coordinator/process/guard_board.h"
#include "coordinator/process/process_launch.h"

namespace redlock::coordinator {

// Made before the fork. Descriptors are ≥ 3 and close in programs.
struct GuardDuty {
  GuardBoard& board;
  const PreparedLaunch& launch;
  int bell;
  int loops_bell;  // the other end, which only the loop may have
  int report[2];   // the command's, see PreparedLaunch
  int gate[2];
  int signal;           // that tells the command to end
  Duration kill_after;  // what it gets for that
};

// In the child of a fork, with all signals blocked.
[[noreturn]] void stand_guard(const GuardDuty& duty);

}  // namespace redlock::coordinator
