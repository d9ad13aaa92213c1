#include <redlock/mutex.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace redlock {
namespace {

using Clock = std::chrono::steady_clock;

// Some answers come at once, and stay so for a while: not asked for in a loop.
constexpr auto kPause = std::chrono::seconds(1);

bool comes_at_once(ErrorCode code) {
  return code == ErrorCode::unfenced || code == ErrorCode::invalid || code == ErrorCode::overloaded;
}

// A wait that is too long to be added to now is one for ever, a negative one none.
Clock::time_point end_of(std::chrono::nanoseconds wait) {
  const Clock::time_point now = Clock::now();
  if (wait <= std::chrono::nanoseconds(0)) return now;
  return wait > Clock::time_point::max() - now ? Clock::time_point::max() : now + wait;
}

GuardOptions waiting(GuardOptions options, std::optional<std::chrono::nanoseconds> wait,
                     const std::stop_token& stop) {
  options.wait = wait;
  options.stop = stop;
  return options;
}

// Or until a stop is requested.
void pause(const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any over;
  over.wait_for(lock, stop, kPause, [] { return false; });
}

}  // namespace

Mutex::Mutex(Client& client, std::string name, GuardOptions options)
    : client_(client), name_(std::move(name)), options_(std::move(options)) {}

// Whoever passed a bad argument must hear of it: a lock() that never returns, or a try_lock that is
// always false, would hide it. All other errors are the nodes', and may pass. That no quorum gives
// tokens, or that the nodes refuse such a lock, is a mistake when it was never otherwise, and may
// pass too when it was.
void Mutex::require_valid_use(const Error& error) const {
  const bool is_settings = error.code == ErrorCode::invalid || error.code == ErrorCode::unfenced;
  const bool is_misuse = error.code == ErrorCode::wrong_thread ||
                         error.code == ErrorCode::stopped || (is_settings && !was_locked_);
  if (is_misuse) value_of_failure(error.text);
}

void Mutex::take_over(Guard guard) {
  guard_ = std::move(guard);
  was_locked_ = true;
}

bool Mutex::take_turn(Clock::time_point until, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_free = [this] { return !taken_; };
  const bool is_ours = until == Clock::time_point::max()
                           ? turn_ended_.wait(lock, stop, is_free)
                           : turn_ended_.wait_until(lock, stop, until, is_free);
  if (!is_ours) return false;
  taken_ = true;
  return true;
}

void Mutex::end_turn() {
  {
    const std::lock_guard lock(mutex_);
    taken_ = false;
  }
  turn_ended_.notify_one();
}

bool Mutex::lock(const std::stop_token& stop) {
  if (!take_turn(Clock::time_point::max(), stop)) return false;
  while (!stop.stop_requested()) {
    auto got = client_.guard(name_, waiting(options_, std::nullopt, stop));
    if (got) {
      take_over(std::move(got).value());
      return true;
    }
    if (stop.stop_requested()) break;
    require_valid_use(got.error());
    if (!comes_at_once(got.error().code)) continue;  // of those the client tells, as they come
    if (options_.on_wait) options_.on_wait(got.error());
    pause(stop);
  }
  end_turn();
  return false;
}

bool Mutex::try_lock() {
  return try_lock_within(std::chrono::nanoseconds(0), {});
}

bool Mutex::try_lock_within(std::chrono::nanoseconds wait, const std::stop_token& stop) {
  const Clock::time_point end = end_of(wait);
  if (!take_turn(end, stop)) return false;
  const std::chrono::nanoseconds left = std::max<std::chrono::nanoseconds>(end - Clock::now(), {});
  auto got = client_.guard(name_, waiting(options_, left, stop));
  if (got) {
    take_over(std::move(got).value());
    return true;
  }
  if (!stop.stop_requested()) require_valid_use(got.error());
  end_turn();
  return false;
}

void Mutex::unlock() {
  guard_ = Guard();
  end_turn();
}

}  // namespace redlock
