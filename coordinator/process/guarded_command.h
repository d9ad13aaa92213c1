// GuardedCommand: a command that must be dead by an instant which we move on, whatever becomes of
// us. For `redlock run`, where that instant is the end of a lock's validity (rules H1 to H4).
//
//   GuardedCommand command(loop, user);
//   command.start({.words = {"make", "deploy"}}, {.stop_at = …, .kill_after = 3s});
//   command.keep_until(…);  // after each extension
//   loop.run();             // user.on_exit() comes once, with how it ended
//
// A guard process stands between us and the command (guard_process.h). It is the command's parent,
// and stops and kills it by a timer of its own when the instant passes; when we die it kills at
// once. What is killed is all that descends from the command, wherever it went: also sessions of
// their own, and daemons. All of it has its rights from the command, so it may be killed, but for
// programs that take on another user's (set-user-ID): those may remain, and that is told.
//
// What holds when somebody else is stopped or killed:
//   we are stopped (SIGSTOP, swapped out, in a debugger)   the guard stops and kills in time
//   we are killed (kill -9)                                the guard kills at once
//   the guard is stopped                                   we continue it
//   the guard is killed                                    the kernel kills the command's process,
//                                                          we kill the rest, and on_exit comes
//   both are stopped, or killed, at once                   not covered; of both killed the
//                                                          command's own process still dies
//
// Start. The guard's child waits before it becomes the program until the user says that it may:
// may_start() comes when the processes are there, however long forking took (H4). So nothing here
// waits for the program's file either, which may be on a slow disk; what keeps it from running
// comes as on_start_failed().
//
// Signals. pass_on() sends one to the command's process group. What is to end (TERM, INT, HUP,
// QUIT) and is stopped is continued to take it, as a shell's kill does. The terminal's keys reach a
// foreground job without us.
//
// Ctrl-Z and fg. When the job stops, we take the terminal back and stop as well, with our whole
// group, as the shell that started us expects. A stop of ours (kill -TSTP) is handed to the job
// first, so that it never runs on unwatched. No lock is extended meanwhile: it runs out on the
// nodes, which is the choice of whoever pressed the key, and the guard ends the job in time.
// When we continue, the user is asked first (on_continuing), before any line of the job runs: it
// looks at its clock and, if the lock has run out, calls stop(). Otherwise the job gets the
// terminal, if we have it again (fg, not bg), and continues. A job that is stopped where no
// terminal is stays stopped, and we go on: that lock is held. While a job runs SIGTTOU is ignored:
// a line that we print from behind it must not stop us (stty tostop).
//
// Times are on CLOCK_BOOTTIME, a holder's clock (rule C3).
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "base/net/sockets/readable.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/signal.h"
#include "base/net/turn/timer.h"
#include "base/time.h"
#include "coordinator/process/guard_board.h"
#include "coordinator/process/job_terminal.h"
#include "coordinator/process/process_launch.h"
#include "coordinator/process/process_outcome.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace redlock::coordinator {

class GuardedCommand {
 public:
  struct End {
    ExitStatus status;
    // Not after stop(), and not with Terms::wait_for_all: one that lives on, if any does.
    pid_t left_behind = 0;
    std::string left_name;
    bool guard_was_killed = false;
  };

  class User {
   public:
    virtual ~User() = default;
    // Between fork and exec: whether the command may start. If not, stop() is called inside.
    virtual bool may_start() { return true; }
    // Instead of on_exit(), and as that.
    virtual void on_start_failed(const StartFailure& failure) = 0;
    // The guard has begun to stop the command, as the instant was past.
    virtual void on_overdue() {}
    // We were stopped with the job and were continued; the job is still stopped. May call stop(),
    // must not destroy.
    virtual void on_continuing() {}
    // Comes once, as the last thing a GuardedCommand does: it may be destroyed or started again
    // inside. The terminal is ours again.
    virtual void on_exit(const End& end) = 0;
  };

  struct Terms {
    Instant stop_at = kNever;   // then it is told to end, and no later word counts
    int signal = SIGTERM;       // by this signal
    Duration kill_after = 0ns;  // and killed so long after it
    bool wait_for_all = false;  // on_exit comes when all that descends from it has ended
  };

  GuardedCommand(net::Loop& loop, User& user);
  // Kills it if it still runs.
  ~GuardedCommand();
  GuardedCommand(const GuardedCommand&) = delete;
  GuardedCommand& operator=(const GuardedCommand&) = delete;

  // Returns at once; a failure is that of the guard. REQUIRES: !is_running().
  std::optional<StartFailure> start(const ProcessCommand& command, const Terms& terms);

  // Until on_exit or on_start_failed. It keeps the loop alive as long.
  bool is_running() const { return guard_ != 0; }
  // The command's process, and group; 0 before may_start().
  pid_t pid() const { return board_ != nullptr ? board_->command.load() : 0; }

  // Moves Terms::stop_at.
  void keep_until(Instant stop_at);

  // Sends a signal to the command's group; after its own end, to all that it left behind.
  void pass_on(int signal);

  // Ends all of it: the signal now (what is stopped is continued to take it), SIGKILL after
  // `kill_after` (at once, and nothing before it, if that is zero or less), on_exit when the last
  // one is gone, at most kGivenUpAfter later. Asked again, the earlier time for SIGKILL counts.
  void stop(Duration kill_after);

  static constexpr Duration kGivenUpAfter = 1s;

 private:
  int fork_guard(const ProcessCommand& command, const Terms& terms);
  void watch_for_suspend();
  void ring();
  void look();
  void look_after_guard();
  void look_at_board();
  void ask_to_start();
  void on_stopped(int signal);
  void suspend_with_job();
  void on_command_ended();
  void on_deadline();
  void kill_all();
  bool is_anybody_left();
  bool is_anybody_left_beside_strangers();
  void learn_strangers();
  void look_for_the_rest();
  void finish();
  void end_watch();

  net::Loop& loop_;
  User& user_;
  net::Signal child_changed_;
  std::optional<net::Readable> bell_heard_;
  std::optional<net::Signal> suspend_asked_;
  std::optional<SignalIgnored> background_output_;  // SIGTTOU
  net::Timer deadline_;                             // of stop(): SIGKILL, then giving up
  net::Timer next_look_;                            // once the guard was killed
  JobTerminal terminal_;

  GuardBoard* board_ = nullptr;
  int bell_ = -1;
  pid_t guard_ = 0;
  std::vector<pid_t> strangers_;  // children that we had before, and their orphans
  std::string program_;
  bool wait_for_all_ = false;
  bool foreground_ = false;
  bool was_subreaper_ = false;
  bool asked_to_start_ = false;
  bool overdue_is_told_ = false;
  bool command_ended_ = false;
  bool suspend_passed_on_ = false;
  bool stopping_ = false;
  End end_;
};

}  // namespace redlock::coordinator
