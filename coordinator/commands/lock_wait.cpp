#include "coordinator/commands/lock_wait.h"

#include "base/net/turn/clock.h"
#include "base/text/duration_text.h"
#include "base/text/printable.h"
#include "coordinator/cli/messages.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/waiting_text.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr Duration kFirstLineAfter = 1s;
constexpr Duration kDrawEvery = 250ms;
// How often the nodes are asked who holds it, for people who look.
constexpr Duration kLookEvery = 2s;
constexpr std::size_t kColumnsIfUnknown = 80;
// The cursor behind the line, and the ^C that the terminal shows there: a line that wraps cannot be
// drawn over.
constexpr std::size_t kColumnsOfKeys = 3;

bool is_terminal_that_redraws() {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(STDERR_FILENO) != 0 && !is_dumb;
}

bool is_in_foreground() {
  return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

std::size_t columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsIfUnknown;
  return size.ws_col;
}

}  // namespace

// Shared with the question under way, which may be answered when the wait is over.
struct LockWait::Look {
  bool is_under_way = false;
  std::optional<Holder> holder = {};
  std::optional<Instant> when = {};  // nullopt: never
};

LockWait::LockWait(const Options& options, CommandSession& session)
    : options_(options),
      session_(session),
      can_draw_(is_terminal_that_redraws() && !options.quiet),
      timer_(session.loop(), net::ClockKind::boottime, [this] { tick(); }),
      look_(std::make_shared<Look>()) {}

void LockWait::begin() {
  began_ = net::holder_now();
  if (can_draw_) timer_.set(later(began_, kFirstLineAfter));
}

void LockWait::end() {
  if (ended_) return;
  ended_ = net::holder_now();
  timer_.set(std::nullopt);
  draw_last_line("");
}

void LockWait::note(const Error& why) {
  ++attempts_;
  why_ = why;
  if (!options_.verbose) return;
  complain(
      fmt::format("{}: attempt {} failed: {}", shown_name(options_.name), attempts_, why.text));
}

void LockWait::tick() {
  const Instant now = net::holder_now();
  timer_.set(later(now, kDrawEvery));
  if (!is_in_foreground()) return draw_last_line("");
  look_for_holder(now);
  draw(now);
}

void LockWait::draw(Instant now) {
  const WaitReason why = why_.code == ErrorCode::held
                             ? held_reason(look_->holder, now - look_->when.value_or(now))
                             : reason_of(why_);
  const std::size_t width = columns();
  draw_last_line(waiting_text({.name = options_.name,
                               .why = why,
                               .waited = waited(now),
                               .wait = options_.wait,
                               .turn = turn_++},
                              width > kColumnsOfKeys ? width - kColumnsOfKeys : width));
}

void LockWait::look_for_holder(Instant now) {
  const bool is_fresh = look_->when && now < *look_->when + kLookEvery;
  if (why_.code != ErrorCode::held || is_fresh || look_->is_under_way) return;
  look_->is_under_way = true;
  session_.client().holder_of_quorum(
      options_.name, [look = look_](const Result<std::optional<Holder>, Error>& found) {
        look->is_under_way = false;
        look->when = net::holder_now();
        look->holder = found ? found.value() : std::nullopt;
      });
}

void LockWait::report(const Error& error, std::function<void()> then) {
  if (error.code != ErrorCode::held) {
    report_failure(options_, told(error));
    return then();
  }
  session_.client().holder_of_quorum(
      options_.name, [this, alive = std::weak_ptr(alive_), error,
                      then = std::move(then)](const Result<std::optional<Holder>, Error>& found) {
        if (alive.expired()) return;
        Error why = error;
        if (found && found.value()) why.text = held_reason(found.value(), 0ns).text;
        report_failure(options_, told(why));
        then();
      });
}

Error LockWait::told(Error error) const {
  error.text += waited_words(error, waited(*ended_), options_.wait);
  return error;
}

void LockWait::tell_interrupted() const {
  if (waited(*ended_) < kFirstLineAfter) return;
  complain(fmt::format("{}: interrupted; waited {}", shown_name(options_.name),
                       spoken_duration(waited(*ended_))));
}

void LockWait::tell_success() const {
  if (!options_.verbose || attempts_ == 0) return;
  complain(fmt::format("{}: got it; waited {}", shown_name(options_.name),
                       spoken_duration(waited(*ended_))));
}

}  // namespace redlock::coordinator
