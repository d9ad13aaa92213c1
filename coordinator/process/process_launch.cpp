#include "coordinator/process/process_launch.h"

#include "base/invariant.h"
#include "base/net/process/signals_blocked.h"
#include "base/net/turn/clock.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::coordinator {

using net::SignalsBlocked;

namespace {

std::string_view name_of(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Ours without those that `added` replaces, and then `added`. Points into both.
std::vector<char*> merged_environment(const std::vector<std::string>& added) {
  const auto is_replaced = [&](std::string_view name) {
    return std::any_of(added.begin(), added.end(),
                       [&](const std::string& assignment) { return name_of(assignment) == name; });
  };
  std::vector<char*> merged = pointers_to(added);
  merged.pop_back();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!is_replaced(name_of(*entry))) merged.push_back(*entry);
  }
  merged.push_back(nullptr);
  return merged;
}

// Handlers are ours and must not run in the child. SIGPIPE is ignored in a process that serves
// sockets; a program expects to be ended by it.
void reset_signal_actions() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction current {};
    if (sigaction(number, nullptr, &current) != 0) continue;
    if (current.sa_handler == SIG_IGN && number != SIGPIPE) continue;
    sigaction(number, &by_default, nullptr);
  }
}

bool redirect_streams(const char* output_file) {
  const int input = open("/dev/null", O_RDONLY);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0) return false;
  const int output = open(output_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) {
    return false;
  }
  if (input > STDERR_FILENO) close(input);
  if (output > STDERR_FILENO) close(output);
  return true;
}

// Until somebody says that it may, and up to when.
bool may_pass(int gate) {
  Duration::rep until = 0;
  ssize_t count = 0;
  do {
    count = read(gate, &until, sizeof until);
  } while (count < 0 && errno == EINTR);
  errno = ETIME;
  return count == sizeof until && net::holder_now() < Instant(Duration(until));
}

// What the child reports: its errno, or 0 when the pipe was closed by a successful exec.
int read_report(int report) {
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(report, &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  return count == sizeof error ? error : 0;
}

}  // namespace

SignalIgnored::SignalIgnored(int number) : number_(number) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  INVARIANT(sigaction(number, &ignored, &before_) == 0, "a signal cannot be ignored");
}

SignalIgnored::~SignalIgnored() {
  sigaction(number_, &before_, nullptr);
}

bool signal_is_ignored(int signal) {
  struct sigaction current {};
  return sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

PreparedLaunch::PreparedLaunch(const ProcessCommand& command, const Surroundings& surroundings)
    : command_(command),
      surroundings_(surroundings),
      words_(pointers_to(command.words)),
      environment_(merged_environment(command.environment)) {
  INVARIANT(!command.words.empty(), "a command has at least its name");
}

// Returns only if the program cannot be executed.
void PreparedLaunch::become(pid_t parent, int gate) const {
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, surroundings_.death_signal) != 0) return;
  if (getppid() != parent) _exit(EXIT_FAILURE);  // it died before the line above
  const pid_t self = getpid();
  const int guard = surroundings_.guard;
  if (guard >= 0 && write(guard, &self, sizeof self) != sizeof self) return;
  if (gate >= 0 && !may_pass(gate)) return;
  if (surroundings_.foreground) tcsetpgrp(STDIN_FILENO, self);
  const int network = command_.network_namespace;
  if (network >= 0 && setns(network, CLONE_NEWNET) != 0) return;
  const std::string& output = command_.output_file;
  if (!output.empty() && !redirect_streams(output.c_str())) return;
  reset_signal_actions();
  sigprocmask(SIG_SETMASK, surroundings_.mask, nullptr);
  // glibc's searches PATH on its stack alone, and runs a script without #! by sh as shells do.
  execvpe(words_[0], words_.data(), environment_.data());
}

void PreparedLaunch::run_child(pid_t parent, int report, int gate) const {
  become(parent, gate);
  const int error = errno;
  const ssize_t written = write(report, &error, sizeof error);
  _exit(written == sizeof error ? EXIT_FAILURE : EXIT_FAILURE + 1);
}

Launched launch(const ProcessCommand& command, int guard) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return {0, errno};
  const SignalsBlocked blocked(SignalsBlocked::Faults::blocked);
  const bool kills = command.on_parent_death == OnParentDeath::kill_group;
  const PreparedLaunch prepared(
      command,
      {.death_signal = kills ? SIGKILL : SIGTERM, .guard = guard, .mask = &blocked.before()});
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) prepared.run_child(parent, report[1], -1);
  Launched launched{pid > 0 ? pid : 0, pid > 0 ? 0 : errno};
  close(report[1]);
  if (pid > 0) {
    setpgid(pid, pid);  // both sides do it, so that either may rely on it at once
    launched.error = read_report(report[0]);
  }
  close(report[0]);
  if (pid > 0 && launched.error != 0) {
    waitpid(pid, nullptr, 0);
    launched.pid = 0;
  }
  return launched;
}

}  // namespace redlock::coordinator
