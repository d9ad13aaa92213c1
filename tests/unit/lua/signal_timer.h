// A timer's signal on the engine's own thread, as the node's shell sends it.
#pragma once

#include "lua/engine/engine.h"

#include <chrono>
#include <csignal>
#include <ctime>

#include <catch2/catch.hpp>

namespace redlock::lua {

// Calls a member of the engine in a signal handler, again and again, as the node's shell does.
class SignalTimer {
 public:
  using Action = void (Engine::*)() noexcept;

  SignalTimer(Engine& engine, Action action,
              std::chrono::milliseconds period = std::chrono::milliseconds(10)) {
    engine_ = &engine;
    action_ = action;
    struct sigaction handler {};
    handler.sa_handler = &SignalTimer::on_signal;
    sigaction(SIGUSR1, &handler, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0);
    itimerspec times{};
    times.it_value.tv_nsec = std::chrono::nanoseconds(period).count();
    times.it_interval = times.it_value;
    REQUIRE(timer_settime(timer_, 0, &times, nullptr) == 0);
  }
  ~SignalTimer() {
    timer_delete(timer_);
    std::signal(SIGUSR1, SIG_IGN);
  }
  SignalTimer(const SignalTimer&) = delete;
  SignalTimer& operator=(const SignalTimer&) = delete;

 private:
  static void on_signal(int) { (engine_->*action_)(); }

  static inline Engine* engine_ = nullptr;
  static inline Action action_ = nullptr;
  timer_t timer_{};
};

}  // namespace redlock::lua
