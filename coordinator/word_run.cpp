// redlock run NAME -- COMMAND: holds a lock while a command runs.
//
//     acquire --> start --> [extend at a third of the TTL]* --> command ends --> release
//                    \--> the lock is lost: the signal, then KILL, all before the validity ends
//
// The lock counts as lost when the nodes say so, when it could not be extended by the instant at
// which stopping must begin, and when the clocks are not to be trusted (rule C3).
#include "base/duration_text.h"
#include "coordinator/child_process.h"
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Between SIGKILL and the end of the validity: the kernel needs a moment to end a process group.
constexpr Duration kill_margin(Duration ttl) {
  return std::min<Duration>(ttl / 50, 100ms);
}

// The clocks are compared at least so often.
constexpr Duration kClockInterval = 1s;

class LockedRun : private ChildProcess::User {
 public:
  explicit LockedRun(const Options& options)
      : options_(options),
        session_(options),
        child_(session_.loop(), *this),
        timer_(session_.loop(), net::ClockKind::boottime, [this] { tick(); }),
        clocks_(read_holder_clocks()) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
      if (signal_is_ignored(number)) continue;
      signals_.push_back(std::make_unique<net::Signal>(session_.loop(), number,
                                                       [this, number] { on_signal(number); }));
    }
  }

  int run() {
    return session_.run([this] {
      if (phase_ != Phase::acquiring) return;  // interrupted before
      operation_ =
          session_.client().acquire({options_.name, options_.ttl, options_.patience},
                                    [this](const AcquireResult& result) { on_acquired(result); });
    });
  }

 private:
  enum class Phase { acquiring, running, releasing };

  void on_signal(int number);
  void on_acquired(const AcquireResult& result);
  void start_command();
  void tick();
  void extend();
  void on_extended(const ExtendResult& result);
  void lose(std::string_view why);
  void give_up_after_max_hold();
  void on_exit(const ExitStatus& status) override;
  void on_continuing() override { tick(); }
  void release_and_finish(int exit_code);
  void on_released(const ReleaseResult& result, int exit_code);

  // Stopping the command must begin here, if the lock is not extended before.
  Instant stop_at() const {
    return lock_.valid_until - options_.kill_after - kill_margin(options_.ttl);
  }

  const Options& options_;
  WordSession session_;
  ChildProcess child_;
  net::Timer timer_;
  ClockWatch clocks_;
  std::vector<std::unique_ptr<net::Signal>> signals_;

  Phase phase_ = Phase::acquiring;
  OperationId operation_ = kNobody;  // the acquisition, or the extension under way
  bool extending_ = false;
  Lock lock_;
  Instant extend_at_;
  Instant hold_until_ = kNever;  // --max-hold
  bool lost_ = false;
  bool exit_as_lost_ = false;         // --max-hold ended it
  std::vector<Answer> last_failure_;  // of an extension
};

void LockedRun::on_signal(int number) {
  if (phase_ == Phase::running) return child_.pass_on(number);
  const bool is_end = number != SIGUSR1 && number != SIGUSR2;
  if (phase_ != Phase::acquiring || !is_end) return;
  phase_ = Phase::releasing;
  session_.client().cancel(operation_);
  session_.finish_when_undone(exit_code::of_signal(number));
}

void LockedRun::on_acquired(const AcquireResult& result) {
  if (result.outcome != AcquisitionOutcome::acquired) {
    report_failure(options_, acquisition_failure(result), result.answers, kAcquireWords);
    return session_.finish_when_undone(acquisition_exit(result, options_.exit_if_not_got));
  }
  lock_ = result.lock;
  const Instant now = LockClient::now();
  extend_at_ = later(now, options_.ttl / 3);
  if (options_.max_hold) hold_until_ = later(now, *options_.max_hold);
  start_command();
}

void LockedRun::start_command() {
  phase_ = Phase::running;
  const auto failure = child_.start(
      {.words = options_.command,
       .environment = {"REDLOCK_NAME=" + options_.name, "REDLOCK_VALUE=" + lock_.claim->value,
                       fmt::format("REDLOCK_TTL_MS={}", ceil_ms(options_.ttl))},
       .output_file = {}});
  if (!failure) return tick();
  complain(failure->text);
  release_and_finish(failure->exit_status);
}

// Looks at everything that time can bring, and says when to look again.
void LockedRun::tick() {
  if (phase_ != Phase::running) return;
  const Instant now = LockClient::now();
  if (!clocks_.trusts(read_holder_clocks())) {
    lose("this machine slept, or a clock of it went back");
  } else if (now >= stop_at()) {
    lose("it could not be extended in time");
  }
  if (now >= hold_until_) give_up_after_max_hold();
  if (lost_) return;
  if (!extending_ && now >= extend_at_) extend();
  const Instant next_extension = extending_ ? kNever : extend_at_;
  timer_.set(std::min({stop_at(), next_extension, hold_until_, later(now, kClockInterval)}));
}

void LockedRun::extend() {
  extending_ = true;
  extend_at_ = later(LockClient::now(), options_.ttl / 3);
  operation_ =
      session_.client().extend(lock_, [this](const ExtendResult& result) { on_extended(result); });
}

void LockedRun::on_extended(const ExtendResult& result) {
  extending_ = false;
  if (phase_ != Phase::running || lost_) return;
  lock_.valid_until = result.valid_until;
  switch (result.outcome) {
    case ExtensionOutcome::extended:
      last_failure_.clear();
      break;
    case ExtensionOutcome::lost:
      last_failure_ = result.answers;
      lose("a quorum of nodes does not have it any more");
      return;
    default:
      // There is time left: try again soon, as the nodes may be coming back.
      last_failure_ = result.answers;
      extend_at_ = later(LockClient::now(), std::min<Duration>(options_.ttl / 20, 500ms));
  }
  tick();
}

void LockedRun::lose(std::string_view why) {
  if (lost_) return;
  lost_ = true;
  timer_.set(std::nullopt);
  const Instant kill_at = lock_.valid_until - kill_margin(options_.ttl);
  const Duration left = std::max<Duration>(kill_at - LockClient::now(), 0ns);
  child_.stop(options_.signal, std::min(left, options_.kill_after));
  if (last_failure_.empty()) {
    complain(fmt::format("{}: the lock was lost: {}", options_.name, why));
  } else {
    report_failure(options_, fmt::format("the lock was lost: {}", why), last_failure_,
                   kExtendWords);
  }
}

// The lock is still held, and is extended until the command is gone.
void LockedRun::give_up_after_max_hold() {
  hold_until_ = kNever;
  if (lost_) return;
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
  timer_.set(std::nullopt);
  if (extending_) session_.client().cancel(operation_);
  session_.client().release(
      lock_, [this, exit_code](const ReleaseResult& result) { on_released(result, exit_code); });
}

void LockedRun::on_released(const ReleaseResult& result, int exit_code) {
  if (result.outcome == ReleaseOutcome::released || lost_ || exit_code != exit_code::kDone) {
    return session_.finish(exit_code);
  }
  const bool is_gone = result.outcome == ReleaseOutcome::not_held;
  report_failure(options_,
                 is_gone ? "it was not held any more when the command ended"
                         : "the release could not be confirmed: " + quorum_sentence(result.answers),
                 result.answers, kReleaseWords);
  session_.finish_when_undone(exit_code::kReleaseUnconfirmed);
}

}  // namespace

int word_run(const Options& options) {
  LockedRun run(options);
  return run.run();
}

}  // namespace redlock::coordinator
