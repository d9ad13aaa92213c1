#include "server/script_watchdog.h"

#include "base/invariant.h"

#include <algorithm>
#include <sys/syscall.h>
#include <unistd.h>

namespace redlock::server {
namespace {

// A real-time signal, so that a program around an embedded node keeps SIGALRM and SIGVTALRM.
int watchdog_signal() {
  return SIGRTMIN + 7;
}

constexpr Duration kTickMin = 1ms;
constexpr Duration kTickMax = 100ms;
// The handler runs on this very thread: the compiler has to keep the order, the processor does.
constexpr std::memory_order kHere = std::memory_order_relaxed;

constexpr int kTicksToThreshold = 10;  // so a script is noticed at most a tenth late

// Whom a tick is for. Not told by the signal: one that is handed on late must not reach an object
// that is gone.
thread_local ScriptWatchdog* watchdog_of_this_thread = nullptr;

std::int64_t ticks_in(Duration length, Duration tick) {
  return (length + tick - 1ns) / tick;
}

}  // namespace

ScriptWatchdog::ScriptWatchdog(const Duration& busy_threshold, const Duration& time_limit)
    : busy_threshold_(busy_threshold), time_limit_(time_limit) {
  INVARIANT(watchdog_of_this_thread == nullptr, "a thread has one node at a time");
  watchdog_of_this_thread = this;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  INVARIANT(sigaction(watchdog_signal(), &action, nullptr) == 0, "no signal for the watchdog");
  sigset_t own;  // a node inside a program runs on a thread on which all signals are blocked
  sigemptyset(&own);
  sigaddset(&own, watchdog_signal());
  INVARIANT(pthread_sigmask(SIG_UNBLOCK, &own, nullptr) == 0, "no signal for the watchdog");
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = watchdog_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  INVARIANT(timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0, "no timer for the watchdog");
}

ScriptWatchdog::~ScriptWatchdog() {
  disarm();
  timer_delete(timer_);
  watchdog_of_this_thread = nullptr;
}

void ScriptWatchdog::script_began(lua::Engine& engine) {
  const Duration tick =
      std::clamp(std::min(busy_threshold_, time_limit_) / kTicksToThreshold, kTickMin, kTickMax);
  busy_after_ticks_.store(ticks_in(busy_threshold_, tick) + 1, kHere);  // a tick may come at once
  end_after_ticks_.store(ticks_in(time_limit_, tick) + 1, kHere);
  ticks_.store(0, kHere);
  std::atomic_signal_fence(std::memory_order_release);
  engine_.store(&engine, kHere);  // from here on a tick counts, and does not disarm
  if (!armed_.load(kHere) || tick != tick_) arm(tick);
}

void ScriptWatchdog::script_ended() {
  engine_.store(nullptr, kHere);
}

void ScriptWatchdog::arm(Duration tick) {
  tick_ = tick;
  armed_ = true;
  itimerspec spec{};
  spec.it_value.tv_nsec = spec.it_interval.tv_nsec = tick.count();
  INVARIANT(timer_settime(timer_, 0, &spec, nullptr) == 0, "the watchdog cannot be armed");
}

void ScriptWatchdog::disarm() {
  const itimerspec disarmed{};
  timer_settime(timer_, 0, &disarmed, nullptr);
  armed_ = false;
}

void ScriptWatchdog::on_signal(int) {
  if (watchdog_of_this_thread != nullptr) watchdog_of_this_thread->on_tick();
}

void ScriptWatchdog::on_tick() {
  lua::Engine* engine = engine_;
  if (engine == nullptr) return disarm();
  const std::int64_t ticks = ++ticks_;
  if (ticks >= end_after_ticks_) {
    engine->abort_running();
  } else if (ticks >= busy_after_ticks_) {
    engine->interrupt();
  }
}

}  // namespace redlock::server
