// redlock run NAME -- COMMAND: holds a lock while a command runs.
//
//     acquire --> start --> command ends --> release
//                    \--> the lock is lost: the signal, then KILL, all before the validity ends
//
// A guard keeps the lock. Its notice is what stopping the command takes, so that a lock which is
// about to be lost is told of in time.
#include "base/duration_text.h"
#include "base/net/clock.h"
#include "base/net/timer.h"
#include "coordinator/child_process.h"
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"
#include <redlock/guard.h>

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Between SIGKILL and the end of the validity: the kernel needs a moment to end a process group.
constexpr Duration kill_margin(Duration ttl) {
  return std::min<Duration>(ttl / 50, 100ms);
}

class LockedRun : private ChildProcess::User {
 public:
  explicit LockedRun(const Options& options)
      : options_(options),
        session_(options, WordSession::Admits::yes),
        child_(session_.loop(), *this),
        max_hold_(session_.loop(), net::ClockKind::boottime, [this] { give_up_after_max_hold(); }) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
      if (signal_is_ignored(number)) continue;
      signals_.push_back(std::make_unique<net::Signal>(session_.loop(), number,
                                                       [this, number] { on_signal(number); }));
    }
  }

  int run() {
    return session_.run([this] {
      if (phase_ != Phase::acquiring) return;  // interrupted before
      acquisition_ = session_.client().guard(
          options_.name,
          {.ttl = options_.ttl,
           .wait = options_.patience.wait,
           .fence = options_.fence,
           .notice = options_.kill_after + kill_margin(options_.ttl),
           .on_loss = [this](const Error& why) { lose(why); }},
          [this](Result<Guard, Error> result) { on_acquired(std::move(result)); });
    });
  }

 private:
  enum class Phase { acquiring, running, releasing };

  void on_signal(int number);
  void on_acquired(Result<Guard, Error> result);
  std::vector<std::string> environment() const;
  void start_command();
  void lose(const Error& why);
  void give_up_after_max_hold();
  void on_exit(const ExitStatus& status) override;
  void on_continuing() override;
  void release_and_finish(int exit_code);
  void on_released(const Result<Done, Error>& result, int exit_code);

  const Options& options_;
  WordSession session_;
  ChildProcess child_;
  net::Timer max_hold_;
  std::vector<std::unique_ptr<net::Signal>> signals_;

  Phase phase_ = Phase::acquiring;
  Client::Operation acquisition_ = 0;
  Guard guard_;
  bool lost_ = false;
  bool exit_as_lost_ = false;  // --max-hold ended it
};

void LockedRun::on_signal(int number) {
  if (phase_ == Phase::running) return child_.pass_on(number);
  const bool is_end = number != SIGUSR1 && number != SIGUSR2;
  if (phase_ != Phase::acquiring || !is_end) return;
  phase_ = Phase::releasing;
  session_.client().cancel(acquisition_);
  session_.finish_when_undone(exit_code::of_signal(number));
}

void LockedRun::on_acquired(Result<Guard, Error> result) {
  if (phase_ != Phase::acquiring) return;  // cancelled
  if (!result) {
    report_failure(options_, result.failure());
    return session_.finish_when_undone(exit_code_of(result.failure(), options_.exit_if_not_got));
  }
  guard_ = std::move(result).value();
  if (options_.max_hold) {
    max_hold_.set(later(net::read_clock(net::ClockKind::boottime), *options_.max_hold));
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

void LockedRun::start_command() {
  phase_ = Phase::running;
  const auto failure =
      child_.start({.words = options_.command, .environment = environment(), .output_file = {}});
  if (!failure) return;
  complain(failure->text);
  release_and_finish(failure->exit_status);
}

// Before any line of the command runs after a stop: what the guard would say a moment later.
void LockedRun::on_continuing() {
  if (guard_.valid()) return;
  lose({ErrorCode::lost, "the lock was lost: it could not be extended in time", {}});
}

void LockedRun::lose(const Error& why) {
  if (phase_ != Phase::running || lost_) return;
  lost_ = true;
  max_hold_.set(std::nullopt);
  const Duration left = guard_.lock().validity_left() - kill_margin(options_.ttl);
  child_.stop(options_.signal, std::clamp<Duration>(left, 0ns, options_.kill_after));
  report_failure(options_, why);
}

// The lock is still held, and is extended until the command is gone.
void LockedRun::give_up_after_max_hold() {
  if (phase_ != Phase::running || lost_) return;
  complain(fmt::format("{}: held for {}, the command is stopped", options_.name,
                       spoken_duration(*options_.max_hold)));
  child_.stop(options_.signal, options_.kill_after);
  exit_as_lost_ = true;
}

void LockedRun::on_exit(const ExitStatus& status) {
  if (status.something_remains) {
    complain(fmt::format("{}: a process of the command could not be ended", options_.name));
  }
  release_and_finish(lost_ || exit_as_lost_ ? options_.exit_if_lost : status.as_shell_status());
}

void LockedRun::release_and_finish(int exit_code) {
  phase_ = Phase::releasing;
  max_hold_.set(std::nullopt);
  guard_.release(
      [this, exit_code](const Result<Done, Error>& result) { on_released(result, exit_code); });
}

void LockedRun::on_released(const Result<Done, Error>& result, int exit_code) {
  if (result || lost_ || exit_code != exit_code::kDone) return session_.finish(exit_code);
  Error error = result.failure();
  error.text = error.code == ErrorCode::not_held
                   ? "it was not held any more when the command ended"
                   : "the release could not be confirmed: " + error.text;
  report_failure(options_, error);
  session_.finish_when_undone(exit_code::kReleaseUnconfirmed);
}

}  // namespace

int word_run(const Options& options) {
  LockedRun run(options);
  return run.run();
}

}  // namespace redlock::coordinator
