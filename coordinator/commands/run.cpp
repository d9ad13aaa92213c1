// redlock run NAME -- COMMAND: holds a lock while a command runs.
//
//     acquire --> start --> command ends --> release
//                    \--> the lock is lost: the signal, then KILL, all before the validity ends
//
// A guard of the library keeps the lock. Its notice is what stopping the command takes, so that a
// lock which is about to be lost is told of in time. The same instants stand on the board of the
// command's guard process, which acts by itself when this loop does not (rule H1). Whatever is to
// be told comes after what is to be done, and never blocks (rule H2).
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "base/text/duration_text.h"
#include "base/text/printable.h"
#include "coordinator/cli/messages.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/lock_wait.h"
#include "coordinator/commands/session.h"
#include "coordinator/process/guarded_command.h"
#include "coordinator/process/process_tree.h"
#include <redlock/guard.h>

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Between SIGKILL and the end of the validity: on a machine that has more to do than it can, the
// guard gets a processor only after a while, and the kernel needs a moment to end processes. With
// the longest kill_after, half of the TTL, it is the longest notice that a guard takes.
constexpr Duration kill_margin(Duration ttl) {
  return std::min<Duration>(ttl / 10, 500ms);
}

// What stopping the command takes: the signal's time, and the kernel's.
Duration notice_of(const Options& options) {
  return options.run.kill_after + kill_margin(options.ttl);
}

class LockedRun : private GuardedCommand::User {
 public:
  LockedRun(const Options& options, CommandSession& session)
      : options_(options),
        session_(session),
        wait_(options, session),
        command_(session_.loop(), *this),
        max_hold_(session_.loop(), net::ClockKind::boottime, [this] { give_up_after_max_hold(); }) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
      if (signal_is_ignored(number)) continue;
      signals_.push_back(std::make_unique<net::Signal>(session_.loop(), number,
                                                       [this, number] { on_signal(number); }));
    }
  }

  int run() {
    if (!messages_.problem().empty()) {
      complain(messages_.problem());
      return exit_code::kNotExecutable;
    }
    return session_.run([this] {
      wait_.begin();
      acquisition_ = session_.client().guard(
          options_.name,
          {.ttl = options_.ttl,
           .wait = options_.wait,
           .fence = options_.fence,
           .on_wait = wait_.on_wait(),
           .tells_every_attempt = options_.verbose,
           .notice = notice_of(options_),
           .on_loss = [this](const Error& why) { lose(why); },
           .on_extended = [this](Duration) { command_.keep_until(stop_at()); }},
          [this](Result<Guard, Error> result) { on_acquired(std::move(result)); });
    });
  }

 private:
  enum class Phase { acquiring, running, releasing };

  void on_signal(int number);
  void on_acquired(Result<Guard, Error> result);
  std::vector<std::string> environment() const;
  Instant stop_at() const;
  void start_command();
  void lose(const Error& why);
  void give_up_after_max_hold();
  bool may_start() override;
  void on_start_failed(const StartFailure& failure) override;
  void on_overdue() override;
  void on_continuing() override;
  void on_exit(const GuardedCommand::End& end) override;
  void tell_of_the_rest(const GuardedCommand::End& end) const;
  void abandon();
  void release_and_finish(int exit_code);
  void on_released(const Result<Done, Error>& result, int exit_code);

  const Options& options_;
  const UnblockedMessages messages_;
  CommandSession& session_;
  LockWait wait_;
  GuardedCommand command_;
  net::Timer max_hold_;
  std::vector<std::unique_ptr<net::Signal>> signals_;

  Phase phase_ = Phase::acquiring;
  Client::Operation acquisition_ = 0;
  Guard guard_;
  bool lost_ = false;
  bool held_too_long_ = false;  // --max-hold ended it
};

void LockedRun::on_signal(int number) {
  if (phase_ == Phase::running) return command_.pass_on(number);
  const bool is_end = number != SIGUSR1 && number != SIGUSR2;
  if (phase_ != Phase::acquiring || !is_end) return;
  phase_ = Phase::releasing;
  session_.client().cancel(acquisition_);
  wait_.end();
  wait_.tell_interrupted();
  session_.finish_when_undone(exit_code::of_signal(number));
}

void LockedRun::on_acquired(Result<Guard, Error> result) {
  if (phase_ != Phase::acquiring) return;  // cancelled
  wait_.end();
  if (!result) {
    const int exit_code = exit_code_of(result.error(), options_.run.exit_if_not_got);
    return wait_.report(result.error(), [this, exit_code] {
      if (phase_ == Phase::acquiring) session_.finish_when_undone(exit_code);
    });
  }
  wait_.tell_success();
  guard_ = std::move(result).value();
  if (options_.run.max_hold) {
    max_hold_.set(later(net::holder_now(), *options_.run.max_hold));
  }
  start_command();
}

// Without a token the variable is set too, and empty: one of an outer `redlock run` must not be
// taken for this lock's.
std::vector<std::string> LockedRun::environment() const {
  const Lock lock = guard_.lock();
  return {"REDLOCK_NAME=" + lock.name, "REDLOCK_VALUE=" + lock.value,
          "REDLOCK_TOKEN=" + (lock.token > 0 ? std::to_string(lock.token) : std::string()),
          fmt::format("REDLOCK_TTL_MS={}", ceil_ms(options_.ttl))};
}

// When the command is told to end, unless the lock is extended before.
Instant LockedRun::stop_at() const {
  return Instant(guard_.lock().valid_until) - notice_of(options_);
}

void LockedRun::start_command() {
  phase_ = Phase::running;
  const auto failure = command_.start(
      {.words = options_.run.command, .environment = environment(), .output_file = {}},
      {.stop_at = stop_at(),
       .signal = options_.run.signal,
       .kill_after = options_.run.kill_after,
       .wait_for_all = options_.run.wait_all});
  if (failure) on_start_failed(*failure);
}

void LockedRun::on_start_failed(const StartFailure& failure) {
  complain(failure.text);
  release_and_finish(failure.exit_status);
}

// The last look before the command is executed, however long forking took (H4).
bool LockedRun::may_start() {
  if (!guard_.valid()) on_overdue();
  return !lost_;
}

// The guard process may see it first: then this loop has not run for a while.
void LockedRun::on_overdue() {
  lose({ErrorCode::lost, "the lock was lost: it could not be extended in time", {}});
}

// Before any line of the command runs after a stop: what the guard would say a moment later.
void LockedRun::on_continuing() {
  if (!guard_.valid()) on_overdue();
}

void LockedRun::lose(const Error& why) {
  if (phase_ != Phase::running || lost_) return;
  lost_ = true;
  const Duration left = guard_.lock().validity_left() - kill_margin(options_.ttl);
  command_.stop(std::clamp<Duration>(left, 0ns, options_.run.kill_after));
  max_hold_.set(std::nullopt);
  report_failure(options_, why);
}

// The lock is still held, and is extended until the command is gone.
void LockedRun::give_up_after_max_hold() {
  if (phase_ != Phase::running || lost_) return;
  held_too_long_ = true;
  command_.stop(options_.run.kill_after);
  complain(fmt::format("{}: held for {}, the command is stopped", shown_name(options_.name),
                       spoken_duration(*options_.run.max_hold)));
}

void LockedRun::on_exit(const GuardedCommand::End& end) {
  if (end.status.something_remains) return abandon();
  int exit_code = end.status.as_shell_status();
  if (held_too_long_) exit_code = exit_code::kMaxHold;
  if (lost_) exit_code = options_.run.exit_if_lost;
  release_and_finish(exit_code);
  tell_of_the_rest(end);
}

void LockedRun::tell_of_the_rest(const GuardedCommand::End& end) const {
  if (end.guard_was_killed) {
    complain(fmt::format("{}: its guard was killed, so the command was ended",
                         shown_name(options_.name)));
  }
  if (end.left_behind == 0) return;
  complain(fmt::format("{}: {} (process {}) works on without the lock (see --wait-all)",
                       shown_name(options_.name), end.left_name, end.left_behind));
}

// Something of the command lives and may work on: until the lock has run out no other may
// have it (H3).
void LockedRun::abandon() {
  phase_ = Phase::releasing;
  guard_.abandon();
  complain(
      fmt::format("{}: a process of the command could not be ended; the lock is not released, "
                  "it runs out by itself",
                  shown_name(options_.name)));
  session_.finish(exit_code::kReleaseUnconfirmed);
}

void LockedRun::release_and_finish(int exit_code) {
  phase_ = Phase::releasing;
  max_hold_.set(std::nullopt);
  guard_.release(
      [this, exit_code](const Result<Done, Error>& result) { on_released(result, exit_code); });
}

void LockedRun::on_released(const Result<Done, Error>& result, int exit_code) {
  if (result || lost_ || exit_code != exit_code::kDone) return session_.finish(exit_code);
  Error error = result.error();
  error.text = error.code == ErrorCode::not_held
                   ? "it was not held any more when the command ended"
                   : "the release could not be confirmed: " + error.text;
  report_failure(options_, error);
  session_.finish_when_undone(exit_code::kReleaseUnconfirmed);
}

}  // namespace

// Before anything is acquired: what descends from the command is found in /proc (H3).
int command_run(const Options& options, CommandSession& session) {
  if (!proc_is_ours()) {
    complain(
        "/proc is missing, or that of another pid namespace: what the command starts could not "
        "be ended");
    return exit_code::kConfiguration;
  }
  LockedRun run(options, session);
  return run.run();
}

}  // namespace redlock::coordinator
