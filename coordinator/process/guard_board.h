// What a GuardedCommand and its guard process tell each other: one page that both have mapped.
//
// Each word stands on the board until it is replaced, and a bell (a byte through a socket) says
// that there is something new. So neither ever waits for the other, nothing is lost when one of
// them is stopped for a while, and a guard that wakes after a pause reads how things are now, not
// how they were.
//
// Each field has one writer, but for those that are taken off by exchange(). The command never sees
// the board: its program's start takes the mapping away.
#pragma once

#include "base/time.h"

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace redlock::coordinator {

struct GuardBoard {
  using Count = Duration::rep;  // of an Instant on CLOCK_BOOTTIME

  // --- the loop writes ---
  // When the command is told to end unless this moves on: with each extension of the lock (H1).
  std::atomic<Count> stop_at;
  // Stop now, and kill then; kNever while it is not to be stopped.
  std::atomic<Count> kill_at = kNever.time_since_epoch().count();
  // The validity has been read once more: the program may be executed (H4).
  std::atomic<bool> may_start = false;
  // To be passed on, bit n − 1 for signal n. The guard takes them off.
  std::atomic<std::uint64_t> signals = 0;

  // --- the guard writes ---
  std::atomic<pid_t> command = 0;    // its child, which waits for may_start; also its process group
  std::atomic<int> start_error = 0;  // errno of what kept the program from running
  std::atomic<bool> overdue = false;   // stop_at has passed, and the guard stops the command
  std::atomic<bool> killed = false;    // SIGKILL was needed
  std::atomic<int> stopped_by = 0;     // a signal that stopped the command; the loop takes it off
  std::atomic<bool> all_gone = false;  // nothing is left that descends from the command
  // The command's own process has ended. Before it is set, the following is written for good.
  std::atomic<bool> ended = false;
  int exit_code = 0;
  int exit_signal = 0;
  pid_t left_behind = 0;  // one that lives on; 0: none was found
  char left_name[16] = {};
};

static_assert(std::atomic<GuardBoard::Count>::is_always_lock_free, "a lock would need an owner");

}  // namespace redlock::coordinator
