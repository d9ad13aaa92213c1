#include "coordinator/child_process.h"

#include "base/invariant.h"
#include "coordinator/process_group.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
constexpr Duration kLookEvery = 10ms;

Instant now() {
  return net::read_clock(net::ClockKind::boottime);
}

StartFailure start_failure(const std::string& program, int error) {
  if (error == ENOENT) return {kNotFound, fmt::format("{}: not found", program)};
  return {kNotExecutable, fmt::format("{}: cannot be executed: {}", program, std::strerror(error))};
}

// Stops our whole process group, the caller among it, and returns when we were continued; at once
// in a group that no shell could continue, where the kernel ignores SIGTSTP.
void suspend_own_group() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  struct sigaction before {};
  sigaction(SIGTSTP, &by_default, &before);
  kill(0, SIGTSTP);
  sigaction(SIGTSTP, &before, nullptr);
}

}  // namespace

bool signal_is_ignored(int signal) {
  struct sigaction current {};
  return sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

ChildProcess::ChildProcess(net::Loop& loop, User& user)
    : loop_(loop),
      user_(user),
      child_changed_(loop, SIGCHLD, [this] { look(); }),
      deadline_(loop, net::ClockKind::boottime, [this] { on_deadline(); }),
      next_look_(loop, net::ClockKind::boottime, [this] { look_for_the_rest(); }) {
  deadline_.keep_loop_alive(false);
  next_look_.keep_loop_alive(false);
}

ChildProcess::~ChildProcess() {
  if (!is_running()) return;
  kill(-pid_, SIGKILL);
  // What may not be killed is not waited for either.
  if (kill(pid_, SIGKILL) == 0) waitpid(pid_, nullptr, 0);
  guard_.dismiss();
  terminal_.take_back(JobTerminal::Modes::restore);
}

std::optional<StartFailure> ChildProcess::start(const Command& command) {
  INVARIANT(!is_running(), "one program at a time");
  const std::string& program = command.words.at(0);
  if (command.on_parent_death == OnParentDeath::kill_group) {
    if (const int error = guard_.start(); error != 0) return start_failure(program, error);
  }
  terminal_ = JobTerminal();
  is_job_ = command.is_job;
  if (is_job_) watch_for_suspend();
  const bool foreground = is_job_ && terminal_.is_ours();
  const Launched launched = launch(command, foreground, guard_.descriptor());
  if (foreground) terminal_.was_lent();
  if (launched.pid == 0) {
    guard_.dismiss();
    suspend_asked_.reset();
    terminal_.take_back(JobTerminal::Modes::restore);
    return start_failure(program, launched.error);
  }
  pid_ = launched.pid;
  if (is_job_) background_output_.emplace(SIGTTOU);
  stopping_ = program_ended_ = suspend_passed_on_ = false;
  status_ = {};
  child_changed_.keep_loop_alive(true);
  return std::nullopt;
}

// From before the program runs, so that no stop of ours leaves it running.
void ChildProcess::watch_for_suspend() {
  if (signal_is_ignored(SIGTSTP)) return;
  suspend_asked_.emplace(loop_, SIGTSTP, [this] {
    suspend_passed_on_ = true;
    pass_on(SIGTSTP);
  });
}

void ChildProcess::pass_on(int signal) {
  if (is_running()) kill(-pid_, signal);
}

void ChildProcess::stop(int signal, Duration kill_after) {
  if (!is_running()) return;
  stopping_ = true;
  if (status_.was_killed) return;  // the deadline is that of giving up
  if (kill_after <= 0ns) return kill_all();
  pass_on(signal);
  pass_on(SIGCONT);
  const Instant kill_at = later(now(), kill_after);
  deadline_.set(std::min(kill_at, deadline_.when().value_or(kNever)));
}

// One SIGCHLD may stand for several changes. The program's end is only looked at here, not reaped:
// as long as it is a zombie, its group's number cannot go to another.
void ChildProcess::look() {
  while (is_running() && !program_ended_) {
    siginfo_t change{};
    const auto pid = static_cast<id_t>(pid_);
    if (waitid(P_PID, pid, &change, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0) return;
    if (change.si_pid == 0) return;
    if (change.si_code == CLD_EXITED) return on_program_ended(change.si_status, 0);
    if (change.si_code != CLD_STOPPED) return on_program_ended(0, change.si_status);
    waitid(P_PID, pid, &change, WSTOPPED | WNOHANG);
    on_stopped(change.si_status);
  }
}

void ChildProcess::on_stopped(int signal) {
  if (stopping_) return pass_on(SIGCONT);
  if (!is_job_) return;
  // Started in the background and then brought to the foreground: the shell told nobody.
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal_.is_ours()) {
    terminal_.lend(pid_);
    return pass_on(SIGCONT);
  }
  if (terminal_.exists() || suspend_passed_on_) suspend_with_job();
}

void ChildProcess::suspend_with_job() {
  suspend_passed_on_ = false;
  terminal_.take_back(JobTerminal::Modes::restore);
  suspend_own_group();
  user_.on_continuing();
  if (stopping_) return;
  if (terminal_.is_ours()) terminal_.lend(pid_);
  pass_on(SIGCONT);
}

void ChildProcess::on_program_ended(int code, int signal) {
  program_ended_ = true;
  status_.code = code;
  status_.signal = signal;
  if (!stopping_) return finish();  // what it left in the background is the user's
  look_for_the_rest();
}

void ChildProcess::look_for_the_rest() {
  bool is_alive = group_is_alive(pid_);
  if (!is_alive) {
    pass_on(SIGKILL);  // to what may have been forked while we looked
    is_alive = group_is_alive(pid_);
  }
  if (!is_alive) return finish();
  next_look_.set(now() + kLookEvery);
}

void ChildProcess::on_deadline() {
  if (status_.was_killed) {
    status_.something_remains = true;
    return finish();
  }
  kill_all();
}

void ChildProcess::kill_all() {
  pass_on(SIGKILL);
  status_.was_killed = true;
  deadline_.set(now() + kGivenUpAfter);
}

void ChildProcess::finish() {
  guard_.dismiss();
  waitpid(pid_, nullptr, WNOHANG);
  pid_ = 0;
  deadline_.set(std::nullopt);
  next_look_.set(std::nullopt);
  suspend_asked_.reset();
  background_output_.reset();
  child_changed_.keep_loop_alive(false);
  const bool ended_by_itself = status_.signal == 0;
  terminal_.take_back(ended_by_itself ? JobTerminal::Modes::keep : JobTerminal::Modes::restore);
  user_.on_exit(ExitStatus(status_));
}

}  // namespace redlock::coordinator
