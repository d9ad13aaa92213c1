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

struct Command {
  std::vector<std::string> words;        // [0] is looked for in PATH unless it contains a '/'
  std::vector<std::string> environment;  // "NAME=value", added to our own; replaces the same NAME
  // Empty: standard input, output and error are ours. Otherwise input is /dev/null, and output and
  // error are appended to this file, which is made if it is missing.
  std::string output_file;
  // A job as a shell knows it: gets the terminal, if we have it, and is stopped and continued with
  // us. Off for servers.
  bool is_job = true;
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
// `foreground`: it makes its group the foreground group of the terminal at standard input before
// the program runs. `guard`: a descriptor that is told the program's pid (a pid_t) before it runs,
// or -1; see ProcessGuard.
//
// REQUIRES: at least one word; the thread that calls lives as long as the process, as the kernel
// counts the death of the thread that forked as the parent's.
Launched launch(const Command& command, bool foreground, int guard);

// Blocks every signal as long as it lives. A handler that ran between fork and exec would write
// into the parent's event loop, whose descriptors the child shares.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
};

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
