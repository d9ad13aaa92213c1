// Alarms: any number of deadlines on one clock for one descriptor of the system.
//
//   Alarms alarms(loop, ClockKind::boottime);
//   Alarms::Alarm alarm(alarms, [&] { … });
//   alarm.set(now + 5s);
//
// A Timer each would be simpler, and a process has 1,024 descriptors by default.
//
// Thread safety: none, as Loop. An alarm that goes off may set itself, and destroy any alarm,
// itself too.
#pragma once

#include "base/net/turn/timer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace redlock::net {

class Alarms {
 public:
  class Alarm {
   public:
    // `fire` runs on the loop at or after the instant that was set, once for each set(). The alarms
    // outlive it.
    Alarm(Alarms& home, std::function<void()> fire) : home_(home), fire_(std::move(fire)) {}
    ~Alarm() { set(std::nullopt); }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // Replaces what was set before; nullopt disarms. It never fires from in here.
    void set(std::optional<Instant> when);

   private:
    friend class Alarms;
    Alarms& home_;
    const std::function<void()> fire_;
    std::optional<Instant> when_;
    std::uint64_t number_ = 0;  // among those that were set
  };

  Alarms(Loop& loop, ClockKind clock) : Alarms(loop, TimerDescriptor::demand(loop, clock)) {}
  // The descriptor's loop and clock.
  Alarms(Loop& loop, std::unique_ptr<TimerDescriptor> descriptor)
      : clock_(descriptor->clock()), timer_(loop, std::move(descriptor), [this] { fire(); }) {}

 private:
  using Place = std::pair<Instant, std::uint64_t>;  // the number tells those of one instant apart

  void fire();
  void set_timer();

  const ClockKind clock_;
  std::uint64_t last_number_ = 0;
  std::map<Place, Alarm*> armed_;
  Timer timer_;
};

}  // namespace redlock::net
