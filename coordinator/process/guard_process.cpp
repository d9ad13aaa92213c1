#include "coordinator/process/guard_process.h"

#include "base/net/turn/clock.h"
#include "coordinator/process/dead_mans_switch.h"
#include "coordinator/process/process_tree.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::coordinator {
namespace {

// Without the program's name, so that `pkill -9 redlock` takes the loop alone,
// and the guard the command.
constexpr const char* kGuardName = "lock-guard";

// Where its descriptors stand. The bell stands where standard error was, too: a broken invariant's
// text rings there, and opens no gate.
constexpr int kBell = 0;
constexpr int kReport = 1;
constexpr int kBellAgain = 2;
constexpr int kGate = 3;

// Between two looks for what SIGKILL has not ended yet: soon, as forks may go on, and then less and
// less often, for what has the rights of another user or hangs in the kernel.
constexpr int kPauseMsMin = 1;
constexpr int kPauseMsMax = 1000;

class GuardProcess {
 public:
  explicit GuardProcess(const GuardDuty& duty)
      : duty_(duty), board_(duty.board), switch_(duty.kill_after), tree_(getpid()) {}

  [[noreturn]] void live();

 private:
  using Deed = DeadMansSwitch::Deed;

  void start_command();
  static void take_precedence();
  void settle();
  void wait();
  void arm_timer();
  void hear_bell();
  void hear_report();
  void reap();
  void on_command_changed(const siginfo_t& change);
  void tell_end();
  void follow_orders();
  void open_gate();
  void act();
  void tell_to_end();
  void kill_at_once();
  void kill_all();
  void pass_on(int signal);
  void ring() const { send(kBell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL); }
  void signal_group(int signal) const {
    if (!command_ended_) kill(-command_, signal);
  }
  Instant stop_at() const { return Instant(Duration(board_.stop_at.load())); }

  const GuardDuty& duty_;
  GuardBoard& board_;
  DeadMansSwitch switch_;
  ProcessTree tree_;
  pid_t command_ = 0;  // not reaped before command_ended_, so its group's number is its own
  int signals_ = -1;
  int timer_ = -1;
  int pause_ms_ = kPauseMsMin;
  bool gate_was_opened_ = false;
  bool report_is_heard_ = false;
  bool command_ended_ = false;
  bool end_is_told_ = false;
  bool loop_is_dead_ = false;
};

void GuardProcess::live() {
  setpgid(0, 0);
  prctl(PR_SET_NAME, kGuardName);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  close(duty_.loops_bell);
  start_command();
  take_precedence();
  settle();
  board_.command = command_;
  ring();
  while (!(loop_is_dead_ && board_.all_gone)) {
    wait();
    hear_bell();
    hear_report();
    reap();
    follow_orders();
    act();
  }
  _exit(0);
}

// The command's child has none of the guard's ends: they would hide the guard's death from the
// loop, and the loop's from the guard.
void GuardProcess::start_command() {
  const pid_t guard = getpid();
  command_ = fork();
  if (command_ == 0) {
    close(duty_.bell);
    close(duty_.gate[1]);
    duty_.launch.run_child(guard, duty_.report[1], duty_.gate[0]);
  }
  if (command_ < 0) {
    board_.start_error = errno;
    _exit(0);
  }
  setpgid(command_, command_);  // both sides do it, so that either may rely on it at once
}

// Where the system allows it (root, CAP_SYS_NICE, RLIMIT_RTPRIO): a machine that has more to do
// than it can must not keep the guard waiting. Elsewhere the margin before the validity's end has
// to do.
void GuardProcess::take_precedence() {
  const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
  sched_setscheduler(0, SCHED_RR, &lowest);
}

void GuardProcess::settle() {
  dup2(duty_.bell, kBell);
  dup2(duty_.report[0], kReport);
  dup2(kBell, kBellAgain);
  dup2(duty_.gate[1], kGate);
  closefrom(kGate + 1);
  sigset_t every;
  sigfillset(&every);
  signals_ = signalfd(-1, &every, SFD_NONBLOCK | SFD_CLOEXEC);
  timer_ = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (signals_ >= 0 && timer_ >= 0) return;
  board_.start_error = errno;
  kill(-command_, SIGKILL);
  _exit(0);
}

void GuardProcess::wait() {
  arm_timer();
  const bool looks_again = switch_.is_killing() && !board_.all_gone;
  pollfd ready[] = {{loop_is_dead_ ? -1 : kBell, POLLIN, 0},
                    {report_is_heard_ ? -1 : kReport, POLLIN, 0},
                    {signals_, POLLIN, 0},
                    {timer_, POLLIN, 0}};
  poll(ready, std::size(ready), looks_again ? pause_ms_ : -1);
  signalfd_siginfo signal{};
  while (read(signals_, &signal, sizeof signal) > 0) {
    if (signal.ssi_signo == SIGCHLD) pause_ms_ = kPauseMsMin;
  }
  std::uint64_t expirations = 0;
  static_cast<void>(read(timer_, &expirations, sizeof expirations));
}

// By the kernel itself, as in net::Timer. An alarm for an instant that is past rings at once.
void GuardProcess::arm_timer() {
  itimerspec alarm{};  // all zeros disarm
  const Instant when = switch_.next_look(stop_at());
  if (when != kNever) {
    const Duration::rep count = std::max<Duration::rep>(when.time_since_epoch().count(), 1);
    alarm.it_value.tv_sec = count / 1'000'000'000;
    alarm.it_value.tv_nsec = count % 1'000'000'000;
  }
  syscall(SYS_timerfd_settime, timer_, TFD_TIMER_ABSTIME, &alarm, nullptr);
}

void GuardProcess::hear_bell() {
  if (loop_is_dead_) return;
  char rung[64];
  ssize_t count = 0;
  do {
    count = recv(kBell, rung, sizeof rung, MSG_DONTWAIT);
  } while (count > 0);
  const bool is_open = count < 0 && (errno == EAGAIN || errno == EINTR);
  if (is_open) return;
  loop_is_dead_ = true;
  switch_.stop_by(Instant::min());
}

// What the child says when it does not become the program: its errno. The end, when it does.
void GuardProcess::hear_report() {
  if (report_is_heard_) return;
  int error = 0;
  const ssize_t count = read(kReport, &error, sizeof error);
  if (count < 0) return;
  report_is_heard_ = true;
  close(kReport);
  if (count != sizeof error) return;
  if (error == ETIME) {
    board_.overdue = true;
  } else {
    board_.start_error = error;
  }
  ring();
}

// Whatever has ended below: the command, and orphans of which this process is the parent now. With
// none left, nothing is left below them either, as orphans would be here.
void GuardProcess::reap() {
  while (!board_.all_gone) {
    siginfo_t change{};
    if (waitid(P_ALL, 0, &change, WEXITED | WSTOPPED | WNOHANG | __WALL) != 0) {
      board_.all_gone = errno == ECHILD;
      break;
    }
    if (change.si_pid == 0) break;
    if (change.si_pid == command_) on_command_changed(change);
  }
  if (command_ended_ && !end_is_told_) tell_end();
  if (board_.all_gone) ring();
}

void GuardProcess::on_command_changed(const siginfo_t& change) {
  if (change.si_code == CLD_STOPPED) {
    if (switch_.is_stopping()) return signal_group(SIGCONT);
    board_.stopped_by = change.si_status;
    return ring();
  }
  hear_report();
  command_ended_ = true;
  board_.exit_code = change.si_code == CLD_EXITED ? change.si_status : 0;
  board_.exit_signal = change.si_code == CLD_EXITED ? 0 : change.si_status;
}

void GuardProcess::tell_end() {
  end_is_told_ = true;
  if (!board_.all_gone && !switch_.is_stopping()) {
    tree_.walk([this](const ProcessEntry& entry) {
      if (board_.left_behind != 0 || !entry.is_alive()) return;
      board_.left_behind = entry.pid;
      std::memcpy(board_.left_name, entry.name, sizeof entry.name);
    });
  }
  board_.ended = true;
  ring();
}

void GuardProcess::follow_orders() {
  const Instant kill_at{Duration(board_.kill_at.load())};
  if (kill_at != kNever) switch_.stop_by(kill_at);
  if (board_.may_start && !gate_was_opened_) open_gate();
  const std::uint64_t signals = board_.signals.exchange(0);
  for (int number = 1; number <= 64; ++number) {
    if ((signals >> (number - 1) & 1) != 0) pass_on(number);
  }
}

// The child looks at its clock once more, right before it becomes the program (H4).
void GuardProcess::open_gate() {
  gate_was_opened_ = true;
  const Duration::rep until = stop_at().time_since_epoch().count();
  static_cast<void>(write(kGate, &until, sizeof until));
  close(kGate);
}

void GuardProcess::act() {
  if (board_.all_gone) return;
  const Instant now = net::holder_now();
  for (Deed deed = Deed::none; (deed = switch_.due(now, stop_at())) != Deed::none;) {
    if (deed == Deed::stop) tell_to_end();
    if (deed == Deed::kill) kill_at_once();
  }
  if (switch_.is_overdue() && !board_.overdue.exchange(true)) ring();
  if (switch_.is_killing()) kill_all();
}

// A stopped command is continued to take the signal. Those that left the group get it, too.
void GuardProcess::tell_to_end() {
  signal_group(duty_.signal);
  signal_group(SIGCONT);
  tree_.walk([this](const ProcessEntry& entry) {
    if (!command_ended_ && entry.group == command_) return;
    kill(entry.pid, duty_.signal);
    kill(entry.pid, SIGCONT);
  });
}

// Those that are known since they were told to end. kill_all() takes longer, and finds the rest.
void GuardProcess::kill_at_once() {
  signal_group(SIGKILL);
  tree_.kill_known(command_);
}

void GuardProcess::kill_all() {
  board_.killed = true;
  tree_.kill_all(command_);
  reap();
  pause_ms_ = std::min(pause_ms_ * 2, kPauseMsMax);
}

// After the command's own end: to all that it left behind, if that is waited for.
void GuardProcess::pass_on(int signal) {
  if (!command_ended_) return signal_group(signal);
  tree_.walk([signal](const ProcessEntry& entry) { kill(entry.pid, signal); });
}

}  // namespace

void stand_guard(const GuardDuty& duty) {
  GuardProcess(duty).live();
}

}  // namespace redlock::coordinator
