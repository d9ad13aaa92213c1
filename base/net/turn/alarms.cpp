#include "base/net/turn/alarms.h"

namespace redlock::net {

void Alarms::Alarm::set(std::optional<Instant> when) {
  if (when && *when == kNever) when.reset();
  if (when == when_) return;
  if (when_) home_.armed_.erase({*when_, number_});
  when_ = when;
  if (when_) {
    number_ = ++home_.last_number_;
    home_.armed_.emplace(Place(*when_, number_), this);
  }
  home_.set_timer();
}

// The earliest alone: an alarm that was disarmed leaves the timer no reason to fire.
void Alarms::set_timer() {
  timer_.set(armed_.empty() ? std::nullopt : std::optional(armed_.begin()->first.first));
}

// One that is set anew to an instant that is past comes in the loop's next turn.
void Alarms::fire() {
  const Instant now = read_clock(clock_);
  const std::uint64_t last = last_number_;
  for (auto next = armed_.begin(); next != armed_.end() && next->first.first <= now;) {
    if (next->first.second > last) {
      ++next;
      continue;
    }
    Alarm& alarm = *next->second;
    armed_.erase(next);
    alarm.when_.reset();
    const auto run = alarm.fire_;  // it may destroy the alarm
    run();
    next = armed_.begin();
  }
  set_timer();
}

}  // namespace redlock::net
