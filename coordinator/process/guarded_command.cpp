#include "coordinator/process/guarded_command.h"

#include "base/invariant.h"
#include "base/net/process/signals_blocked.h"
#include "coordinator/process/guard_process.h"
#include "coordinator/process/process_tree.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace redlock::coordinator {

using net::SignalsBlocked;

namespace {

// For what the killed guard has left: several looks, and soon again, as forks may go on.
constexpr int kLooksAtOnce = 8;
constexpr Duration kLookForRestEvery = 1ms;

bool is_end(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

constexpr std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}
static_assert(SIGCONT > SIGTERM && SIGCONT > SIGINT && SIGCONT > SIGHUP && SIGCONT > SIGQUIT);

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

GuardBoard* new_board() {
  void* page =
      mmap(nullptr, sizeof(GuardBoard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : new (page) GuardBoard();
}

bool is_subreaper() {
  int is = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &is) == 0 && is != 0;
}

// The three connections of a guard, closed at the end but for what the loop keeps.
struct Connections {
  Connections() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, bell) != 0 ||
        pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0 || pipe2(gate, O_CLOEXEC) != 0) {
      error = errno;
    }
  }
  ~Connections() {
    for (const int descriptor : {bell[0], bell[1], report[0], report[1], gate[0], gate[1]}) {
      if (descriptor >= 0) close(descriptor);
    }
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  int bell[2] = {-1, -1};
  int report[2] = {-1, -1};
  int gate[2] = {-1, -1};
  int error = 0;
};

}  // namespace

GuardedCommand::GuardedCommand(net::Loop& loop, User& user)
    : loop_(loop),
      user_(user),
      child_changed_(loop, SIGCHLD, [this] { look(); }),
      deadline_(loop, net::ClockKind::boottime, [this] { on_deadline(); }),
      next_look_(loop, net::ClockKind::boottime, [this] { look_for_the_rest(); }) {
  deadline_.keep_loop_alive(false);
  next_look_.keep_loop_alive(false);
}

// The guard finds its loop gone and does the rest.
GuardedCommand::~GuardedCommand() {
  if (!is_running()) return;
  kill_all();
  if (!end_.guard_was_killed) kill(guard_, SIGCONT);  // else it may be reaped
  end_watch();
  terminal_.take_back(JobTerminal::Modes::restore);
}

std::optional<StartFailure> GuardedCommand::start(const ProcessCommand& command,
                                                  const Terms& terms) {
  INVARIANT(!is_running(), "one command at a time");
  program_ = command.words.at(0);
  wait_for_all_ = terms.wait_for_all;
  asked_to_start_ = overdue_is_told_ = command_ended_ = suspend_passed_on_ = stopping_ = false;
  end_ = {};
  strangers_ = find_children();  // a shell that executes us in its place leaves us its own
  terminal_ = JobTerminal();
  watch_for_suspend();
  foreground_ = terminal_.is_ours();
  if (const int error = fork_guard(command, terms); error != 0) {
    suspend_asked_.reset();
    return start_failure(program_, error);
  }
  bell_heard_.emplace(loop_, bell_, [this] { look(); });
  background_output_.emplace(SIGTTOU);
  child_changed_.keep_loop_alive(true);
  return std::nullopt;
}

// 0, or the errno of what the system refused.
int GuardedCommand::fork_guard(const ProcessCommand& command, const Terms& terms) {
  Connections connections;
  if (connections.error != 0) return connections.error;
  GuardBoard* board = new_board();
  if (board == nullptr) return errno;
  board->stop_at = terms.stop_at.time_since_epoch().count();
  const SignalsBlocked blocked(SignalsBlocked::Faults::blocked);
  const PreparedLaunch launch(
      command, {.death_signal = SIGKILL, .foreground = foreground_, .mask = &blocked.before()});
  const GuardDuty duty{.board = *board,
                       .launch = launch,
                       .bell = connections.bell[1],
                       .loops_bell = connections.bell[0],
                       .report = {connections.report[0], connections.report[1]},
                       .gate = {connections.gate[0], connections.gate[1]},
                       .signal = terms.signal,
                       .kill_after = terms.kill_after};
  const pid_t pid = fork();
  if (pid == 0) stand_guard(duty);
  if (pid < 0) {
    const int error = errno;
    munmap(board, sizeof(GuardBoard));
    return error;
  }
  setpgid(pid, pid);
  was_subreaper_ = is_subreaper();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  guard_ = pid;
  board_ = board;
  bell_ = std::exchange(connections.bell[0], -1);
  return 0;
}

// From before the program runs, so that no stop of ours leaves it running.
void GuardedCommand::watch_for_suspend() {
  if (signal_is_ignored(SIGTSTP)) return;
  suspend_asked_.emplace(loop_, SIGTSTP, [this] {
    pass_on(SIGTSTP);
    if (command_ended_) return suspend_with_job();
    suspend_passed_on_ = true;
  });
}

void GuardedCommand::keep_until(Instant stop_at) {
  if (!is_running()) return;
  board_->stop_at = stop_at.time_since_epoch().count();
  learn_strangers();
}

// As long as the guard lives the command's orphans are its own: all others that are ours by then
// are what strangers have left us (rule H3).
void GuardedCommand::learn_strangers() {
  if (strangers_.empty() || end_.guard_was_killed) return;
  std::vector<pid_t> children = find_children();
  std::erase(children, guard_);
  siginfo_t change{};
  const auto guard = static_cast<id_t>(guard_);
  const bool is_told = waitid(P_PID, guard, &change, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (is_told && change.si_pid == 0) strangers_ = std::move(children);
}

void GuardedCommand::pass_on(int signal) {
  if (!is_running()) return;
  // In one word: the guard sends them in the order of their numbers, SIGCONT after what ends.
  board_->signals |= bit_of(signal) | (is_end(signal) ? bit_of(SIGCONT) : 0);
  ring();
}

void GuardedCommand::ring() {
  send(bell_, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// The guard sends the signal, and SIGKILL in time. One that somebody has stopped is continued.
void GuardedCommand::stop(Duration kill_after) {
  if (!is_running()) return;
  stopping_ = true;
  if (end_.status.was_killed) return;  // the deadline is that of giving up
  const Instant kill_at = later(net::holder_now(), std::max(kill_after, Duration::zero()));
  const Instant earliest = std::min(kill_at, deadline_.when().value_or(kNever));
  board_->kill_at = earliest.time_since_epoch().count();
  ring();
  kill(guard_, SIGCONT);
  if (kill_after <= 0ns) return on_deadline();
  deadline_.set(earliest);
}

void GuardedCommand::look() {
  if (!is_running()) return;
  char rung[64];
  while (recv(bell_, rung, sizeof rung, MSG_DONTWAIT) > 0) continue;
  learn_strangers();
  look_after_guard();
  look_at_board();
}

void GuardedCommand::look_after_guard() {
  if (end_.guard_was_killed) return;
  siginfo_t change{};
  const auto guard = static_cast<id_t>(guard_);
  if (waitid(P_PID, guard, &change, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0) return;
  if (change.si_pid == 0) return;
  if (change.si_code == CLD_STOPPED) {
    waitid(P_PID, guard, &change, WSTOPPED | WNOHANG);
    kill(guard_, SIGCONT);
    return;
  }
  if (board_->all_gone || (board_->start_error != 0 && board_->command == 0)) return;
  if (board_->ended && !command_ended_) on_command_ended();
  // Its orphans are our children now (PR_SET_CHILD_SUBREAPER).
  end_.guard_was_killed = stopping_ = true;
  bell_heard_.reset();  // it would ring for ever
  deadline_.set(std::nullopt);
  kill_all();
  look_for_the_rest();
}

void GuardedCommand::look_at_board() {
  if (!is_running() || end_.guard_was_killed) return;
  const bool was_never_forked = board_->start_error != 0 && board_->command == 0;
  if (board_->command != 0 && !asked_to_start_) ask_to_start();
  if (board_->overdue && !std::exchange(overdue_is_told_, true)) user_.on_overdue();
  if (const int signal = board_->stopped_by.exchange(0); signal != 0) on_stopped(signal);
  if (board_->ended && !command_ended_) on_command_ended();
  if (board_->all_gone || was_never_forked) return finish();
  if (command_ended_ && !stopping_ && !wait_for_all_) finish();
}

void GuardedCommand::ask_to_start() {
  asked_to_start_ = true;
  if (!user_.may_start() || stopping_) return;
  if (foreground_) terminal_.was_lent();
  board_->may_start = true;
  ring();
}

void GuardedCommand::on_stopped(int signal) {
  if (stopping_) return pass_on(SIGCONT);
  // Started in the background and then brought to the foreground: the shell told nobody.
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal_.is_ours()) {
    terminal_.lend(pid());
    return pass_on(SIGCONT);
  }
  if (terminal_.exists() || suspend_passed_on_) suspend_with_job();
}

void GuardedCommand::suspend_with_job() {
  suspend_passed_on_ = false;
  terminal_.take_back(JobTerminal::Modes::restore);
  suspend_own_group();
  user_.on_continuing();
  if (stopping_) return;
  if (terminal_.is_ours() && !command_ended_) terminal_.lend(pid());
  pass_on(SIGCONT);
}

// What it left behind has no claim to the terminal: keys would reach nobody, or too few.
void GuardedCommand::on_command_ended() {
  command_ended_ = true;
  end_.status.code = board_->exit_code;
  end_.status.signal = board_->exit_signal;
  const bool ended_by_itself = end_.status.signal == 0;
  terminal_.take_back(ended_by_itself ? JobTerminal::Modes::keep : JobTerminal::Modes::restore);
}

void GuardedCommand::on_deadline() {
  if (end_.status.was_killed) {
    end_.status.something_remains = true;
    return finish();
  }
  end_.status.was_killed = true;
  kill_all();
  deadline_.set(net::holder_now() + kGivenUpAfter);
}

// Not the guard's work alone: whatever keeps it from running, the time is up all the same.
void GuardedCommand::kill_all() {
  if (end_.guard_was_killed) {
    ProcessTree(getpid(), strangers_).kill_all(pid());
  } else {
    ProcessTree(guard_).kill_all(pid());
  }
}

// The guard cannot say any more that all are gone; the kernel can: what has ended is reaped, and
// with no child left nothing is left below them either. A look at /proc could not tell: a process
// that forks and ends before each look has another number every time.
bool GuardedCommand::is_anybody_left() {
  if (!strangers_.empty()) return is_anybody_left_beside_strangers();
  siginfo_t change{};
  do {
    change.si_pid = 0;
    if (waitid(P_ALL, 0, &change, WEXITED | WNOHANG | __WALL) != 0) return errno != ECHILD;
  } while (change.si_pid != 0);
  return true;
}

// Strangers nobody may reap for their parent's program. All others among our children are reaped
// one by one; where the kernel does not list them, two looks that find nobody have to do.
bool GuardedCommand::is_anybody_left_beside_strangers() {
  for (bool has_reaped = true; has_reaped;) {
    const auto children = read_children();
    if (!children) {
      ProcessTree tree(getpid(), strangers_);
      return tree.kill_all(pid()) + tree.kill_all(pid()) > 0;
    }
    has_reaped = false;
    for (const pid_t child : *children) {
      if (std::find(strangers_.begin(), strangers_.end(), child) != strangers_.end()) continue;
      siginfo_t change{};
      const auto id = static_cast<id_t>(child);
      const bool is_told = waitid(P_PID, id, &change, WEXITED | WNOHANG | __WALL) == 0;
      if (is_told && change.si_pid == 0) return true;
      has_reaped = true;
    }
  }
  return false;
}

void GuardedCommand::look_for_the_rest() {
  if (!is_running()) return;
  ProcessTree tree(getpid(), strangers_);
  for (int look = 0; look < kLooksAtOnce && tree.kill_all(pid()) > 0; ++look) continue;
  // An end that nobody told is that of its guard: the command died with it, or never began.
  if (!command_ended_) end_.status.signal = SIGKILL;
  end_.status.was_killed = true;
  if (!deadline_.when()) deadline_.set(net::holder_now() + kGivenUpAfter);
  if (is_anybody_left()) return next_look_.set(net::holder_now() + kLookForRestEvery);
  finish();
}

void GuardedCommand::finish() {
  End end = end_;
  const int start_error = board_->start_error;
  if (board_->ended && !stopping_ && !wait_for_all_) {
    end.left_behind = board_->left_behind;
    end.left_name = board_->left_name;
  }
  end.status.was_killed |= board_->killed;
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_ ? 1 : 0);  // what lives on is not ours
  // One that could not end all of it goes on trying, without us.
  if (!end.status.something_remains) {
    // Before the bell's end closes: then it never acts. One that was killed may be reaped.
    if (!end.guard_was_killed) kill(guard_, SIGKILL);
    while (waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  end_watch();
  terminal_.take_back(JobTerminal::Modes::restore);
  if (start_error != 0) return user_.on_start_failed(start_failure(program_, start_error));
  user_.on_exit(end);
}

void GuardedCommand::end_watch() {
  bell_heard_.reset();
  close(bell_);
  munmap(board_, sizeof(GuardBoard));
  board_ = nullptr;
  guard_ = 0;
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_ ? 1 : 0);
  deadline_.set(std::nullopt);
  next_look_.set(std::nullopt);
  suspend_asked_.reset();
  background_output_.reset();
  child_changed_.keep_loop_alive(false);
}

}  // namespace redlock::coordinator
