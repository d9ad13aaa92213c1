#include "base/net/process/signals_blocked.h"

#include <csignal>
#include <pthread.h>

#include <catch2/catch.hpp>

using redlock::net::SignalsBlocked;

namespace {

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

}  // namespace

TEST_CASE("signals are blocked as long as the object lives") {
  for (const auto faults : {SignalsBlocked::Faults::blocked, SignalsBlocked::Faults::open}) {
    {
      const SignalsBlocked blocked(faults);
      CHECK(is_blocked(SIGTERM));
      CHECK(is_blocked(SIGCHLD));
      CHECK(is_blocked(SIGRTMAX));
      CHECK(is_blocked(SIGSEGV) == (faults == SignalsBlocked::Faults::blocked));
      CHECK(is_blocked(SIGABRT) == (faults == SignalsBlocked::Faults::blocked));
      CHECK(sigismember(&blocked.before(), SIGTERM) == 0);
    }
    CHECK_FALSE(is_blocked(SIGTERM));
    CHECK_FALSE(is_blocked(SIGSEGV));
  }
}

TEST_CASE("what was blocked before is blocked afterwards") {
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &only, &before);
  { const SignalsBlocked blocked(SignalsBlocked::Faults::open); }
  CHECK(is_blocked(SIGUSR1));
  CHECK_FALSE(is_blocked(SIGUSR2));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
