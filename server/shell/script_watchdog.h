// ScriptWatchdog: a timer signal that notices scripts which run too long.
//
// Nothing else can: while a script runs, the loop does not. Setting a timer for every script would
// cost each two system calls, so one timer ticks while scripts come and is disarmed by the first
// tick that finds none running; what a script has run is counted in ticks of kTick. The signal goes
// to the node's own thread, so its handler never runs beside the engine,
// only between two of its instructions.
#pragma once

#include "base/time.h"
#include "server/node/script_watch.h"

#include <atomic>
#include <csignal>
#include <ctime>

namespace redlock::server {

class ScriptWatchdog final : public ScriptWatch {
 public:
  // For scripts of the calling thread, which has one at a time. The durations may change while no
  // script runs (CONFIG SET).
  ScriptWatchdog(const Duration& busy_threshold, const Duration& time_limit);
  ~ScriptWatchdog() override;
  ScriptWatchdog(const ScriptWatchdog&) = delete;
  ScriptWatchdog& operator=(const ScriptWatchdog&) = delete;

  void script_began(lua::Engine& engine) override;
  void script_ended() override;

 private:
  static void on_signal(int);
  void on_tick();
  void watch(lua::Engine& engine, bool is_busy);
  void arm();
  void disarm();

  const Duration& busy_threshold_;
  const Duration& time_limit_;
  timer_t timer_{};
  // What the handler reads. It interrupts this very thread, so lock-free atomics without ordering
  // between threads suffice.
  std::atomic<lua::Engine*> engine_{nullptr};
  std::atomic<std::int64_t> ticks_{0};
  std::atomic<bool> armed_{false};
  // The handler's own.
  int stretch_ = 0;
  int ticks_of_stretch_ = 0;
};

}  // namespace redlock::server
