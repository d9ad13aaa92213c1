// ChildProcess: a program that runs beside us, from its start to its last process's end.
//
// Made for `redlock run`, where the end of the program decides over a lock: the program has a
// process group of its own, whatever it starts belongs to it, and stop() does not rest until all of
// the group is gone. `redlock up` runs its nodes by it, too.
//
//   ChildProcess process(loop, user);
//   if (auto failure = process.start({.words = {"make", "deploy"}})) …  // exit status 126 or 127
//   loop.run();  // user.on_exit() comes once, with how it ended
//
// Signals. pass_on() sends one to the group. Which ones are passed on is the caller's business (it
// also needs them before the command runs); it should leave alone what signal_is_ignored() says
// when it starts, so that nohup holds. The terminal's keys reach a foreground job without us.
//
// Ctrl-Z and fg (Command::is_job). When the job stops, we take the terminal back and stop as well,
// with our whole group, as the shell that started us expects. A stop of ours (kill -TSTP) is handed
// to the job first, so that it never runs on unwatched. No lock is extended meanwhile: it runs out
// on the nodes, which is the choice of whoever pressed the key. When we continue, the user is asked
// first (on_continuing), before any line of the job runs: it looks at its clock and, if the lock
// has run out, calls stop(). Otherwise the job gets the terminal, if we have it again (fg, not bg),
// and continues. A job that is stopped where no terminal is stays stopped, and we go on: that
// lock is held. SIGSTOP sent to ourselves cannot be handed on. While a job runs SIGTTOU is ignored:
// a line that we print from behind it must not stop us (stty tostop) and leave it unwatched.
//
// Our own death, kill -9 too, kills the group or terminates the program (OnParentDeath). A process
// that leaves the group (setsid) leaves our reach.
//
// Times are on CLOCK_BOOTTIME, a holder's clock (rule C3).
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "base/net/loop.h"
#include "base/net/signal.h"
#include "base/net/timer.h"
#include "base/time.h"
#include "coordinator/job_terminal.h"
#include "coordinator/process_guard.h"
#include "coordinator/process_launch.h"

#include <optional>
#include <string>
#include <sys/types.h>

namespace redlock::coordinator {

struct ExitStatus {
  int code = 0;    // what it returned; meaningless if a signal ended it
  int signal = 0;  // the signal that ended it, or 0
  // After stop(): whether SIGKILL was needed, and whether something outlived even that (a process
  // with another user's rights, or one that the kernel does not let go).
  bool was_killed = false;
  bool something_remains = false;

  // As shells have it: the code, or 128 + signal.
  int as_shell_status() const { return signal != 0 ? 128 + signal : code; }
};

// Why a program never ran.
struct StartFailure {
  int exit_status;   // 127: not found; 126: found but not executable, or no process to be had
  std::string text;  // for people: "deploy: not found"
};

class ChildProcess {
 public:
  class User {
   public:
    virtual ~User() = default;
    // Comes once after a start() that succeeded, as the last thing a ChildProcess does: it may be
    // destroyed or started again inside. The terminal is ours again.
    virtual void on_exit(const ExitStatus& status) = 0;
    // We were stopped with the job and were continued; the job is still stopped. May call stop(),
    // must not destroy.
    virtual void on_continuing() {}
  };

  ChildProcess(net::Loop& loop, User& user);
  // Kills the group if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns when the program runs, or has been found not to. REQUIRES: !is_running().
  std::optional<StartFailure> start(const Command& command);

  // Until on_exit. It keeps the loop alive as long.
  bool is_running() const { return pid_ != 0; }
  pid_t pid() const { return pid_; }  // and process group; 0 when it does not run

  // Sends a signal to the whole group. Nothing if it does not run.
  void pass_on(int signal);

  // Ends the whole group: `signal` now (a stopped job is continued to take it), SIGKILL after
  // `kill_after` (at once, and nothing before it, if that is zero or less), on_exit when the last
  // one is gone, at most kGivenUpAfter later. The program's own exit, if it comes first, no longer
  // ends the watch over the others. Asked again, it sends the signal again, and the earlier time
  // for SIGKILL counts.
  void stop(int signal, Duration kill_after);

  static constexpr Duration kGivenUpAfter = 1s;

 private:
  void watch_for_suspend();
  void look();  // at what SIGCHLD may have told
  void on_stopped(int signal);
  void suspend_with_job();
  void on_program_ended(int code, int signal);
  void look_for_the_rest();
  void on_deadline();
  void kill_all();
  void finish();

  net::Loop& loop_;
  User& user_;
  net::Signal child_changed_;
  std::optional<net::Signal> suspend_asked_;
  std::optional<SignalIgnored> background_output_;  // SIGTTOU
  net::Timer deadline_;                             // of stop(): SIGKILL, then giving up
  net::Timer next_look_;  // for members of the group that are not our children
  JobTerminal terminal_;
  ProcessGuard guard_;

  pid_t pid_ = 0;
  bool is_job_ = false;
  bool suspend_passed_on_ = false;
  bool stopping_ = false;
  bool program_ended_ = false;
  ExitStatus status_;
};

// Whether this process was told to ignore a signal (nohup; & in a shell without job control). Ask
// before watching it.
bool signal_is_ignored(int signal);

}  // namespace redlock::coordinator
