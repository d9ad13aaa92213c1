// ChildProcess: a program that runs beside us, from its start to its last process's end.
//
// The program has a process group of its own, whatever it starts belongs to it, and stop() does not
// rest until all of the group is gone. `redlock up` and the drills run nodes and clients by it. A
// command under a lock is a GuardedCommand.
//
//   ChildProcess process(loop, user);
//   if (auto failure = process.start({.words = {"make", "deploy"}})) …  // exit status 126 or 127
//   loop.run();  // user.on_exit() comes once, with how it ended
//
// It is no job of a terminal: the keys reach our own group, and pass_on() the program's.
//
// Our own death, kill -9 too, kills the group or terminates the program (OnParentDeath). A process
// that leaves the group (setsid) leaves our reach.
//
// Times are on CLOCK_BOOTTIME, a holder's clock (rule C3).
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "base/net/turn/loop.h"
#include "base/net/turn/signal.h"
#include "base/net/turn/timer.h"
#include "base/time.h"
#include "coordinator/process/process_guard.h"
#include "coordinator/process/process_launch.h"
#include "coordinator/process/process_outcome.h"

#include <optional>
#include <string>
#include <sys/types.h>

namespace redlock::coordinator {

class ChildProcess {
 public:
  class User {
   public:
    virtual ~User() = default;
    // Comes once after a start() that succeeded, as the last thing a ChildProcess does: it may be
    // destroyed or started again inside.
    virtual void on_exit(const ExitStatus& status) = 0;
  };

  ChildProcess(net::Loop& loop, User& user);
  // Kills the group if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns when the program runs, or has been found not to. REQUIRES: !is_running().
  std::optional<StartFailure> start(const ProcessCommand& command);

  // Until on_exit. It keeps the loop alive as long.
  bool is_running() const { return pid_ != 0; }
  pid_t pid() const { return pid_; }  // and process group; 0 when it does not run

  // Sends a signal to the whole group. Nothing if it does not run.
  void pass_on(int signal);

  // Ends the whole group: `signal` now (a stopped program is continued to take it), SIGKILL after
  // `kill_after` (at once, and nothing before it, if that is zero or less), on_exit when the last
  // one is gone, at most kGivenUpAfter later. The program's own exit, if it comes first, no longer
  // ends the watch over the others. Asked again, it sends the signal again, and the earlier time
  // for SIGKILL counts.
  void stop(int signal, Duration kill_after);

  static constexpr Duration kGivenUpAfter = 1s;

 private:
  void look();  // at what SIGCHLD may have told
  void on_program_ended(int code, int signal);
  void look_for_the_rest();
  void on_deadline();
  void kill_all();
  void finish();

  net::Loop& loop_;
  User& user_;
  net::Signal child_changed_;
  net::Timer deadline_;   // of stop(): SIGKILL, then giving up
  net::Timer next_look_;  // for members of the group that are not our children
  ProcessGuard guard_;

  pid_t pid_ = 0;
  bool stopping_ = false;
  bool program_ended_ = false;
  ExitStatus status_;
};

}  // namespace redlock::coordinator
