// What INFO tells of the process around the node. Asked from the shell when INFO is: the node
// itself makes no system call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace redlock::server {

struct ProcessFacts {
  std::int64_t pid = 0;
  std::string os;
  std::string compiler;
  std::string executable;
  std::string config_file;
  std::uint16_t port = 0;
  std::optional<std::uint64_t> heap_bytes;  // nullopt: the process is not the node's alone
  std::uint64_t resident_bytes = 0;
  std::uint64_t system_memory_bytes = 0;
  double cpu_user_seconds = 0;
  double cpu_system_seconds = 0;
  double thread_user_seconds = 0;  // of the thread that the node runs on
  double thread_system_seconds = 0;
};

using ProcessInspector = std::function<ProcessFacts()>;

}  // namespace redlock::server
