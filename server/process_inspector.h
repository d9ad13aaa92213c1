// ProcessFacts from the running process: /proc, getrusage, the allocator.
#pragma once

#include "server/process_facts.h"

#include <string>

namespace redlock::server {

// The config file's path is told to whoever asks INFO; empty: none.
ProcessInspector process_inspector(std::string config_file, std::uint16_t port);

}  // namespace redlock::server
