#include "coordinator/process/process_guard.h"

#include "base/net/process/signals_blocked.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::coordinator {

using net::SignalsBlocked;

namespace {

// The guard's whole life. Signals are blocked. It keeps none of our descriptors: a socket to a node
// or the end of somebody's pipe would stay open through it.
[[noreturn]] void stand_guard(int lifeline) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "redlock-guard");
  dup2(lifeline, STDIN_FILENO);
  closefrom(STDIN_FILENO + 1);
  pid_t group = 0;
  if (read(STDIN_FILENO, &group, sizeof group) != sizeof group) _exit(0);  // nothing ever ran
  char nothing = 0;
  while (read(STDIN_FILENO, &nothing, sizeof nothing) > 0) continue;
  kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

int ProcessGuard::start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  const SignalsBlocked blocked(SignalsBlocked::Faults::blocked);
  pid_ = fork();
  if (pid_ == 0) stand_guard(ends[0]);
  const int error = pid_ < 0 ? errno : 0;
  close(ends[0]);
  if (error != 0) {
    close(ends[1]);
    pid_ = 0;
    return error;
  }
  lifeline_ = ends[1];
  return 0;
}

void ProcessGuard::dismiss() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);  // before the pipe closes: then it never acts
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  close(lifeline_);
  pid_ = 0;
  lifeline_ = -1;
}

}  // namespace redlock::coordinator
