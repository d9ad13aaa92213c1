#include "base/net/quiet_thread.h"

#include <csignal>
#include <pthread.h>

namespace redlock::net {

std::thread start_quiet_thread(std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace redlock::net
