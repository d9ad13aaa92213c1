// Ports of 127.0.0.1 for the servers of a test, its own until the test's process ends.
//
// A test kills a server and starts it again at the same port while other tests run beside it, so a
// port that nobody listens on is not yet free. Whoever takes one binds its UDP namesake as well,
// which nothing here serves: the kernel gives that to one process at a time, and takes it back when
// the process ends, however it ends. (ports.py is the same for Python.)
#pragma once

#include <cstdint>

namespace redlock {

// The first of `count` ports in a row. INVARIANT: there are so many.
std::uint16_t reserve_ports(int count);

}  // namespace redlock
