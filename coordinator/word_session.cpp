#include "coordinator/word_session.h"

#include "coordinator/child_process.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace redlock::coordinator {

WordSession::WordSession(const Options& options)
    : client_(loop_, {.nodes = options.nodes,
                      .node_timeout = options.node_timeout,
                      .clock_drift = options.clock_drift,
                      .hear_everyone = true}),
      node_timeout_(options.node_timeout),
      undo_timer_(loop_, net::ClockKind::boottime, [this] { look_whether_undone(); }) {}

int WordSession::run(std::function<void()> begin) {
  client_.when_ready(std::move(begin));
  loop_.run();
  return exit_code_;
}

void WordSession::finish(int exit_code) {
  exit_code_ = exit_code;
  loop_.stop();
}

void WordSession::finish_when_undone(int exit_code) {
  exit_code_ = exit_code;
  undo_deadline_ = later(LockClient::now(), node_timeout_);
  look_whether_undone();
}

void WordSession::look_whether_undone() {
  constexpr Duration kLookAgain = 1ms;
  const Instant now = LockClient::now();
  if (client_.releases_pending() == 0 || now >= undo_deadline_) return loop_.stop();
  undo_timer_.set(std::min(later(now, kLookAgain), undo_deadline_));
}

void WordSession::on_interrupt(const std::function<void(int)>& interrupted) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal_is_ignored(number)) continue;
    signals_.push_back(std::make_unique<net::Signal>(loop_, number, [=] { interrupted(number); }));
  }
}

}  // namespace redlock::coordinator
