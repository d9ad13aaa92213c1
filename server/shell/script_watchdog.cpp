#include "server/shell/script_watchdog.h"

#include "base/invariant.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace redlock::server {
namespace {

// A real-time signal, so that a program around an embedded node keeps SIGALRM and SIGVTALRM.
int watchdog_signal() {
  return SIGRTMIN + 7;
}

// So late is a script noticed at most: others are to be answered within 50 ms of the threshold. A
// tick costs about 2 µs.
constexpr Duration kTick = 5ms;
// The handler runs on this very thread: the compiler has to keep the order, the processor does.
constexpr std::memory_order kHere = std::memory_order_relaxed;

// Whom a tick is for. Not told by the signal: one that is handed on late must not reach an object
// that is gone.
thread_local ScriptWatchdog* watchdog_of_this_thread = nullptr;

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
  ticks_.store(0, kHere);
  std::atomic_signal_fence(std::memory_order_release);
  engine_.store(&engine, kHere);  // from here on a tick counts, and does not disarm
  if (!armed_.load(kHere)) arm();
}

void ScriptWatchdog::script_ended() {
  engine_.store(nullptr, kHere);
}

void ScriptWatchdog::arm() {
  armed_ = true;
  itimerspec spec{};
  spec.it_value.tv_nsec = spec.it_interval.tv_nsec = kTick.count();
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
  const Duration ran = kTick * ticks_++;  // the first tick may come at once
  if (ran >= time_limit_) {
    engine->abort_running();
  } else {
    watch(*engine, ran >= busy_threshold_);
  }
}

void ScriptWatchdog::watch(lua::Engine& engine, bool is_busy) {
  const int stretch = engine.stretch();
  const bool counts = stretch != 0 && (is_busy || engine.is_compiling());
  if (!counts || stretch != stretch_) ticks_of_stretch_ = 0;
  stretch_ = stretch;
  if (counts && kTick * ticks_of_stretch_++ >= kStuckAfter) {
    engine.abort_stuck();
  } else if (is_busy) {
    engine.interrupt();
  }
}

}  // namespace redlock::server
