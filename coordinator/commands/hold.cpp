// redlock hold NAME: holds a lock until Ctrl-C, SIGTERM or SIGHUP, and releases it then. For people
// who want to keep others out while they look at something, and for services that are stopped
// by a signal.
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "base/text/duration_text.h"
#include "base/text/json.h"
#include "base/text/printable.h"
#include "coordinator/cli/messages.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/lock_wait.h"
#include "coordinator/commands/session.h"
#include <redlock/guard.h>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

std::string line_of(const Options& options, const Lock& lock) {
  if (!options.json) {
    const std::string token = lock.token > 0 ? fmt::format(" with token {}", lock.token) : "";
    return fmt::format("{}: held{}; Ctrl-C releases it\n", shown_name(options.name), token);
  }
  const JsonObject all = {{"name", options.name},
                          {"outcome", "acquired"},
                          {"value", lock.value},
                          {"token", lock.token > 0 ? Json(lock.token) : Json()}};
  return all.text() + "\n";
}

class LockHold {
 public:
  LockHold(const Options& options, CommandSession& session)
      : options_(options),
        session_(session),
        wait_(options, session),
        max_hold_(session_.loop(), net::ClockKind::boottime, [this] { give_up(); }) {
    session_.on_interrupt([this](int number) { on_signal(number); });
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
           .on_loss = [this](const Error& why) { lose(why); }},
          [this](Result<Guard, Error> result) { on_acquired(std::move(result)); });
    });
  }

 private:
  enum class Phase { acquiring, holding, releasing };

  void on_signal(int number) {
    if (phase_ == Phase::holding) return release(exit_code::kDone);
    if (phase_ != Phase::acquiring) return;
    phase_ = Phase::releasing;
    session_.client().cancel(acquisition_);
    wait_.end();
    wait_.tell_interrupted();
    session_.finish_when_undone(exit_code::of_signal(number));
  }

  void on_acquired(Result<Guard, Error> result) {
    if (phase_ != Phase::acquiring) return;  // cancelled
    wait_.end();
    if (!result) {
      const int exit_code = exit_code_of(result.error(), options_.run.exit_if_not_got);
      return wait_.report(result.error(), [this, exit_code] {
        if (phase_ == Phase::acquiring) session_.finish_when_undone(exit_code);
      });
    }
    phase_ = Phase::holding;
    guard_ = std::move(result).value();
    if (options_.run.max_hold) {
      max_hold_.set(later(net::holder_now(), *options_.run.max_hold));
    }
    wait_.tell_success();
    say(MessageStream::output, line_of(options_, guard_.lock()));
  }

  void lose(const Error& why) {
    if (phase_ != Phase::holding) return;
    phase_ = Phase::releasing;
    report_failure(options_, why);
    session_.finish(options_.run.exit_if_lost);
  }

  void give_up() {
    if (phase_ != Phase::holding) return;
    complain(fmt::format("{}: held for {}, and released", shown_name(options_.name),
                         spoken_duration(*options_.run.max_hold)));
    release(exit_code::kMaxHold);
  }

  void release(int exit_code) {
    phase_ = Phase::releasing;
    guard_.release([this, exit_code](const Result<Done, Error>& result) {
      if (result) return session_.finish_when_undone(exit_code);
      Error error = result.error();
      error.text = "the release could not be confirmed: " + error.text;
      report_failure(options_, error);
      session_.finish_when_undone(exit_code::kReleaseUnconfirmed);
    });
  }

  const Options& options_;
  const UnblockedMessages
      messages_;  // who does not read them does not keep the lock from being kept
  CommandSession& session_;
  LockWait wait_;
  net::Timer max_hold_;
  Phase phase_ = Phase::acquiring;
  Client::Operation acquisition_ = 0;
  Guard guard_;
};

}  // namespace

int command_hold(const Options& options, CommandSession& session) {
  LockHold hold(options, session);
  return hold.run();
}

}  // namespace redlock::coordinator
