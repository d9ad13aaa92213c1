// ProcessFacts from the running process: /proc, getrusage, the allocator.
#pragma once

#include "server/node/process_facts.h"

#include <string>

namespace redlock::server {

// The config file's path is told to whoever asks INFO; empty: none. owns_process: the heap is the
// node's. Within another program it is not, and may not even be the C library's, which then must
// not be asked.
ProcessInspector process_inspector(std::string config_file, std::uint16_t port, bool owns_process);

}  // namespace redlock::server
