#include "coordinator/process/child_process.h"

#include "base/invariant.h"
#include "coordinator/process/process_group.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/wait.h>

namespace redlock::coordinator {
namespace {

constexpr Duration kLookEvery = 10ms;

}  // namespace

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
}

std::optional<StartFailure> ChildProcess::start(const ProcessCommand& command) {
  INVARIANT(!is_running(), "one program at a time");
  const std::string& program = command.words.at(0);
  if (command.on_parent_death == OnParentDeath::kill_group) {
    if (const int error = guard_.start(); error != 0) return start_failure(program, error);
  }
  const Launched launched = launch(command, guard_.descriptor());
  if (launched.pid == 0) {
    guard_.dismiss();
    return start_failure(program, launched.error);
  }
  pid_ = launched.pid;
  stopping_ = program_ended_ = false;
  status_ = {};
  child_changed_.keep_loop_alive(true);
  return std::nullopt;
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
  const Instant kill_at = later(net::holder_now(), kill_after);
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
    if (stopping_) pass_on(SIGCONT);
  }
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
  next_look_.set(net::holder_now() + kLookEvery);
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
  deadline_.set(net::holder_now() + kGivenUpAfter);
}

void ChildProcess::finish() {
  guard_.dismiss();
  waitpid(pid_, nullptr, WNOHANG);
  pid_ = 0;
  deadline_.set(std::nullopt);
  next_look_.set(std::nullopt);
  child_changed_.keep_loop_alive(false);
  user_.on_exit(ExitStatus(status_));
}

}  // namespace redlock::coordinator
