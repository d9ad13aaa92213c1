#include "coordinator/process_launch.h"

#include "base/invariant.h"

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
namespace {

// All that the child needs, made before the fork: after it the child may call nothing that
// allocates or locks, as another thread may have held the lock at the fork.
struct Prepared {
  std::vector<char*> words;
  std::vector<char*> environment;
  const char* output_file;  // nullptr: streams are inherited
  int network_namespace;    // -1: is inherited
  pid_t parent;
  int death_signal;
  bool foreground;
  int guard;
  int report;  // where errno is written to; closes by itself when the program is executed
  const sigset_t* mask;
};

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

// In the child, with all signals blocked. Returns only if the program cannot be executed.
void become(const Prepared& prepared) {
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, prepared.death_signal) != 0) return;
  if (getppid() != prepared.parent) _exit(EXIT_FAILURE);  // it died before the line above
  if (prepared.foreground) tcsetpgrp(STDIN_FILENO, getpid());
  const pid_t self = getpid();
  if (prepared.guard >= 0 && write(prepared.guard, &self, sizeof self) != sizeof self) return;
  if (prepared.network_namespace >= 0 && setns(prepared.network_namespace, CLONE_NEWNET) != 0) {
    return;
  }
  if (prepared.output_file != nullptr && !redirect_streams(prepared.output_file)) return;
  reset_signal_actions();
  sigprocmask(SIG_SETMASK, prepared.mask, nullptr);
  // glibc's searches PATH on its stack alone, and runs a script without #! by sh as shells do.
  execvpe(prepared.words[0], prepared.words.data(), prepared.environment.data());
}

[[noreturn]] void run_child(const Prepared& prepared) {
  become(prepared);
  const int error = errno;
  const ssize_t written = write(prepared.report, &error, sizeof error);
  _exit(written == sizeof error ? EXIT_FAILURE : EXIT_FAILURE + 1);
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

SignalsBlocked::SignalsBlocked() {
  sigset_t every;
  sigfillset(&every);
  INVARIANT(pthread_sigmask(SIG_SETMASK, &every, &before_) == 0, "signals cannot be blocked");
}

SignalsBlocked::~SignalsBlocked() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

SignalIgnored::SignalIgnored(int number) : number_(number) {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  INVARIANT(sigaction(number, &ignored, &before_) == 0, "a signal cannot be ignored");
}

SignalIgnored::~SignalIgnored() {
  sigaction(number_, &before_, nullptr);
}

Launched launch(const Command& command, bool foreground, int guard) {
  INVARIANT(!command.words.empty(), "a command has at least its name");
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return {0, errno};
  const SignalsBlocked blocked;
  const bool kills = command.on_parent_death == OnParentDeath::kill_group;
  const Prepared prepared{pointers_to(command.words),
                          merged_environment(command.environment),
                          command.output_file.empty() ? nullptr : command.output_file.c_str(),
                          command.network_namespace,
                          getpid(),
                          kills ? SIGKILL : SIGTERM,
                          foreground,
                          guard,
                          report[1],
                          &blocked.before()};
  const pid_t pid = fork();
  if (pid == 0) run_child(prepared);
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
