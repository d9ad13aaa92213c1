// A thread on which no signal is handled: signals belong to whoever asked for them. A write to a
// socket that the peer has closed fails there, and ends nobody (SIGPIPE). Faults are left as they
// are, so that a crash handler of the program sees them.
#pragma once

#include <redlock/result.h>

#include <functional>
#include <thread>

namespace redlock::net {

// A new thread takes over the signal mask of the one that makes it: it is made while all signals
// are blocked, so there is no moment in which one could land on it. The caller's own mask is as it
// was when this returns, also when the system gives no thread: that is the failure.
Result<std::thread> start_quiet_thread(std::function<void()> run);

}  // namespace redlock::net
