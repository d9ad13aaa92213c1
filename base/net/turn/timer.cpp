#include "base/net/turn/timer.h"

#include "base/invariant.h"

#include <algorithm>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace redlock::net {
namespace {

// Asks the kernel itself, not libc: libfaketime, by which people and our own drill move the wall
// clock, takes every absolute timer for one of the wall clock and moves it as well, by hours.
bool set_timer(int fd, const itimerspec& spec) {
  static_assert(sizeof spec.it_value == 2 * sizeof(std::int64_t), "as the kernel has it");
  return syscall(SYS_timerfd_settime, fd, TFD_TIMER_ABSTIME, &spec, nullptr) == 0;
}

}  // namespace

Timer::Timer(Loop& loop, ClockKind clock, std::function<void()> fire)
    : clock_(clock),
      fd_(timerfd_create(clock == ClockKind::monotonic ? CLOCK_MONOTONIC : CLOCK_BOOTTIME,
                         TFD_NONBLOCK | TFD_CLOEXEC)),
      fire_(std::move(fire)) {
  INVARIANT(fd_ >= 0, "no timer can be had from the system");
  INVARIANT(uv_poll_init(loop.raw(), poll_.raw(), fd_) == 0, "a timer cannot be watched");
  poll_.opened(this);
  const auto on_readable = [](uv_poll_t* handle, int, int) {
    auto* self = static_cast<Timer*>(handle->data);
    if (self == nullptr) return;
    std::uint64_t expirations = 0;
    if (read(self->fd_, &expirations, sizeof expirations) != sizeof expirations) return;
    self->has_alarm_ = false;
    self->fire();
  };
  INVARIANT(uv_poll_start(poll_.raw(), UV_READABLE, on_readable) == 0, "a timer cannot be watched");
  INVARIANT(uv_idle_init(loop.raw(), at_once_.raw()) == 0, "a timer cannot be watched");
  at_once_.opened(this);
  uv_unref(at_once_.handle());
}

Timer::~Timer() {
  poll_.close();  // stops watching at once, so the descriptor may go now
  close(fd_);
}

void Timer::set(std::optional<Instant> when) {
  if (when && *when == kNever) when.reset();
  if (when == when_) return;
  when_ = when;
  const bool is_past = when && *when <= read_clock(clock_);
  set_at_once(is_past);
  set_alarm(is_past ? std::nullopt : when);
}

void Timer::set_alarm(std::optional<Instant> when) {
  if (!when && !has_alarm_) return;
  itimerspec spec{};  // all zeros disarm
  if (when) {
    const auto ns = std::max<std::int64_t>(when->time_since_epoch().count(), 1);
    spec.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    spec.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  }
  INVARIANT(set_timer(fd_, spec), "a timer cannot be set");
  has_alarm_ = when.has_value();
}

// The loop does not wait while an idle handle is started, and calls it before it looks for events.
void Timer::set_at_once(bool on) {
  if (!on) {
    uv_idle_stop(at_once_.raw());
    return;
  }
  uv_idle_start(at_once_.raw(), [](uv_idle_t* handle) {
    auto* self = static_cast<Timer*>(handle->data);
    if (self == nullptr) return;
    uv_idle_stop(handle);
    self->fire();
  });
}

// The timer may be gone after this.
void Timer::fire() {
  when_.reset();
  fire_();
}

void Timer::keep_loop_alive(bool keep) {
  if (keep) {
    uv_ref(poll_.handle());
  } else {
    uv_unref(poll_.handle());
  }
}

}  // namespace redlock::net
