// What a process has computed so far, by the kernel's own account.
#pragma once

#include <cstdint>

namespace redlock::bench {

// Nanoseconds of all its threads, from /proc/PID/task/*/schedstat; 0 if there is no such process.
// Exact while the process sleeps: a running thread's share is up to a tick behind.
std::uint64_t process_cpu_ns(int pid);

}  // namespace redlock::bench
