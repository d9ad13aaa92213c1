// How a program ended, or why it never ran.
#pragma once

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

// error: errno of what failed.
StartFailure start_failure(const std::string& program, int error);

}  // namespace redlock::coordinator
