#include "base/net/turn/quiet_thread.h"

#include <csignal>
#include <pthread.h>
#include <system_error>

#include <fmt/format.h>

namespace redlock::net {
namespace {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

// std::thread's only way to say it is an exception.
Result<std::thread> start_quiet_thread(std::function<void()> run) {
  const SignalsBlocked blocked;
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& error) {
    return Failure{fmt::format("the system gives no thread: {}", error.code().message())};
  }
}

}  // namespace redlock::net
