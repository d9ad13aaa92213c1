#include "base/net/turn/timer.h"

#include "base/invariant.h"

#include <algorithm>
#include <cerrno>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::net {
namespace {

// Asks the kernel itself, not libc: libfaketime, by which people and our own drill move the wall
// clock, takes every absolute timer for one of the wall clock and moves it as well, by hours.
bool set_timer(int fd, const itimerspec& spec) {
  static_assert(sizeof spec.it_value == 2 * sizeof(std::int64_t), "as the kernel has it");
  return syscall(SYS_timerfd_settime, fd, TFD_TIMER_ABSTIME, &spec, nullptr) == 0;
}

}  // namespace

Result<std::unique_ptr<TimerDescriptor>> TimerDescriptor::open(Loop& loop, ClockKind clock) {
  const auto failure = [](int status) {
    return Failure{fmt::format("the system gives no timer: {}", uv_strerror(status))};
  };
  const clockid_t id = clock == ClockKind::monotonic ? CLOCK_MONOTONIC : CLOCK_BOOTTIME;
  const int fd = timerfd_create(id, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) return failure(uv_translate_sys_error(errno));
  std::unique_ptr<TimerDescriptor> made(new TimerDescriptor(fd, clock));
  if (const int status = uv_poll_init(loop.raw(), made->poll_.raw(), fd); status != 0) {
    return failure(status);
  }
  made->poll_.opened(nullptr);
  return made;
}

std::unique_ptr<TimerDescriptor> TimerDescriptor::demand(Loop& loop, ClockKind clock) {
  auto made = open(loop, clock);
  INVARIANT(made, "no timer can be had from the system");
  return std::move(made).value();
}

TimerDescriptor::~TimerDescriptor() {
  poll_.close();  // stops watching at once, so the descriptor may go now
  close(fd_);
}

Timer::Timer(Loop& loop, std::unique_ptr<TimerDescriptor> descriptor, std::function<void()> fire)
    : descriptor_(std::move(descriptor)), fire_(std::move(fire)) {
  const auto on_readable = [](uv_poll_t* handle, int, int) {
    auto* self = static_cast<Timer*>(handle->data);
    if (self == nullptr) return;
    std::uint64_t expirations = 0;
    const int fd = self->descriptor_->fd_;
    if (read(fd, &expirations, sizeof expirations) != sizeof expirations) return;
    self->has_alarm_ = false;
    self->fire();
  };
  uv_poll_t* const poll = descriptor_->poll_.raw();
  poll->data = this;
  INVARIANT(uv_poll_start(poll, UV_READABLE, on_readable) == 0, "a timer cannot be watched");
  INVARIANT(uv_idle_init(loop.raw(), at_once_.raw()) == 0, "a timer cannot be watched");
  at_once_.opened(this);
  uv_unref(at_once_.handle());
}

void Timer::set(std::optional<Instant> when) {
  if (when && *when == kNever) when.reset();
  if (when == when_) return;
  when_ = when;
  const bool is_past = when && *when <= read_clock(descriptor_->clock());
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
  INVARIANT(set_timer(descriptor_->fd_, spec), "a timer cannot be set");
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
    uv_ref(descriptor_->poll_.handle());
  } else {
    uv_unref(descriptor_->poll_.handle());
  }
}

}  // namespace redlock::net
