// ProcessGuard: a process group that cannot outlive us, not even when we are killed with -9.
//
// A parent-death signal reaches the one process that asked for it, not what that has started, and
// a program with set-user-ID rights loses it. So a guard is forked beside the command: a process
// that owns nothing but the end of a pipe, whose other end is ours alone. When we die the pipe
// ends, and the guard sends SIGKILL to the command's group and goes. It ignores every signal that
// can be ignored and has a process group of its own, so that what ends our job does not
// end it first.
//
// Use: start(), then launch() with descriptor(); dismiss() when the command has ended, before it
// is reaped, so that the group's number cannot have been given to another.
#pragma once

#include <sys/types.h>

namespace redlock::coordinator {

class ProcessGuard {
 public:
  ProcessGuard() = default;
  ~ProcessGuard() { dismiss(); }
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;

  // 0, or the errno of what the system refused.
  int start();
  void dismiss();

  // Where the command writes its pid (a pid_t) before it runs; -1 when there is no guard.
  int descriptor() const { return lifeline_; }

 private:
  pid_t pid_ = 0;
  int lifeline_ = -1;
};

}  // namespace redlock::coordinator
