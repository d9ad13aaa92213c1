#include "base/net/process/signals_blocked.h"

#include "base/invariant.h"

#include <initializer_list>
#include <pthread.h>

namespace redlock::net {

SignalsBlocked::SignalsBlocked(Faults faults) {
  sigset_t blocked;
  sigfillset(&blocked);
  if (faults == Faults::open) {
    for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) {
      sigdelset(&blocked, fault);
    }
  }
  INVARIANT(pthread_sigmask(SIG_SETMASK, &blocked, &before_) == 0, "signals cannot be blocked");
}

SignalsBlocked::~SignalsBlocked() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace redlock::net
