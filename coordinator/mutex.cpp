#include <redlock/mutex.h>

#include <algorithm>
#include <utility>

namespace redlock {
namespace {

// Whoever passed a bad argument must hear of it: a lock() that never returns, or a try_lock that is
// always false, would hide it. All other errors are the nodes', and may pass.
void require_valid_use(const Error& error) {
  const bool is_misuse = error.code == ErrorCode::invalid ||
                         error.code == ErrorCode::wrong_thread || error.code == ErrorCode::stopped;
  if (is_misuse) value_of_failure(error.text);
}

GuardOptions waiting(GuardOptions options, std::optional<std::chrono::nanoseconds> wait) {
  options.wait = wait;
  return options;
}

}  // namespace

Mutex::Mutex(Client& client, std::string name, GuardOptions options)
    : client_(client), name_(std::move(name)), options_(std::move(options)) {}

void Mutex::lock() {
  turn_.lock();
  while (true) {
    auto got = client_.guard(name_, waiting(options_, std::nullopt));
    if (got) {
      guard_ = std::move(got).value();
      return;
    }
    require_valid_use(got.failure());
  }
}

bool Mutex::try_lock() {
  return try_lock_within(std::chrono::nanoseconds(0));
}

bool Mutex::try_lock_within(std::chrono::nanoseconds wait) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  if (!turn_.try_lock_for(wait)) return false;
  const std::chrono::nanoseconds left =
      std::max<std::chrono::nanoseconds>(wait - (Clock::now() - start), {});
  auto got = client_.guard(name_, waiting(options_, left));
  if (got) {
    guard_ = std::move(got).value();
    return true;
  }
  require_valid_use(got.failure());
  turn_.unlock();
  return false;
}

void Mutex::unlock() {
  guard_ = Guard();
  turn_.unlock();
}

}  // namespace redlock
