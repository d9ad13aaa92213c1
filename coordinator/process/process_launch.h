// Starting a program: fork and exec, with everything a command under a lock needs in between.
//
// libuv's uv_spawn cannot set a process group, a terminal's foreground group or a parent-death
// signal, so the few steps stand here. Nothing else in the house forks.
#pragma once

#include <csignal>
#include <string>
#include <sys/types.h>
#include <vector>

namespace redlock::coordinator {

// What happens to the program when this process dies, however it dies (kill -9 too).
enum class OnParentDeath {
  kill_group,  // SIGKILL to its whole process group: it must not outlive its lock
  terminate,   // SIGTERM to the program itself, so that it stops cleanly
};

struct ProcessCommand {
  std::vector<std::string> words;        // [0] is looked for in PATH unless it contains a '/'
  std::vector<std::string> environment;  // "NAME=value", added to our own; replaces the same NAME
  // Empty: standard input, output and error are ours. Otherwise input is /dev/null, and output and
  // error are appended to this file, which is made if it is missing.
  std::string output_file;
  OnParentDeath on_parent_death = OnParentDeath::kill_group;
  // A descriptor of the network namespace that it runs in, or -1: ours. See NetworkNamespace.
  int network_namespace = -1;
};

struct Launched {
  pid_t pid = 0;  // also its process group; 0 when it could not be started
  int error = 0;  // errno of what failed: of execve, if the program could not be executed
};

// Returns when the program has been executed, or could not be. All signals have their default
// action in it, but those that were ignored stay so (nohup).
//
// `guard`: a descriptor that is told the program's pid (a pid_t) before it runs, or -1:
// see ProcessGuard.
//
// REQUIRES: at least one word; the thread that calls lives as long as the process, as the kernel
// counts the death of the thread that forked as the parent's.
Launched launch(const ProcessCommand& command, int guard);

// All that a child needs to become a program, made before the fork: after it the child may call
// nothing that allocates or locks, as another thread may have held the lock at the fork.
class PreparedLaunch {
 public:
  struct Surroundings {
    int death_signal;         // that it gets when its parent dies
    bool foreground = false;  // its group becomes the terminal's foreground group (standard input)
    int guard = -1;           // as in launch()
    const sigset_t* mask;     // the signals that are blocked in the program
  };

  // REQUIRES: at least one word. Both must outlive it.
  PreparedLaunch(const ProcessCommand& command, const Surroundings& surroundings);
  PreparedLaunch(const PreparedLaunch&) = delete;
  PreparedLaunch& operator=(const PreparedLaunch&) = delete;

  // In the child, with all signals blocked: its own process group, and then the program. What keeps
  // it from running is written to `report` as an errno; that must close when a program is executed.
  //
  // gate: where it waits before it becomes the program; -1: nowhere. It goes on when it reads an
  // instant (the count of an Instant on CLOCK_BOOTTIME), and only before that instant (rule H4); it
  // reports ETIME otherwise, also when the gate is closed.
  [[noreturn]] void run_child(pid_t parent, int report, int gate) const;

 private:
  void become(pid_t parent, int gate) const;

  const ProcessCommand& command_;
  Surroundings surroundings_;
  std::vector<char*> words_;
  std::vector<char*> environment_;
};

// Whether this process was told to ignore a signal (nohup; & in a shell without job control). Ask
// before watching it.
bool signal_is_ignored(int signal);

// Ignores one signal as long as it lives.
class SignalIgnored {
 public:
  explicit SignalIgnored(int number);
  ~SignalIgnored();
  SignalIgnored(const SignalIgnored&) = delete;
  SignalIgnored& operator=(const SignalIgnored&) = delete;

 private:
  int number_;
  struct sigaction before_ {};
};

}  // namespace redlock::coordinator
