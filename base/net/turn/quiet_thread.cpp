#include "base/net/turn/quiet_thread.h"

#include "base/net/process/signals_blocked.h"

#include <system_error>

#include <fmt/format.h>

namespace redlock::net {

// std::thread's only way to say it is an exception.
Result<std::thread> start_quiet_thread(std::function<void()> run) {
  const SignalsBlocked blocked(SignalsBlocked::Faults::open);
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& error) {
    return Failure{fmt::format("the system gives no thread: {}", error.code().message())};
  }
}

}  // namespace redlock::net
