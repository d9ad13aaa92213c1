#include "tests/bench/process_cpu.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace redlock::bench {

std::uint64_t process_cpu_ns(int pid) {
  std::uint64_t total = 0;
  std::error_code none;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, none)) {
    std::ifstream file(task.path() / "schedstat");
    std::uint64_t ran_ns = 0;
    if (file >> ran_ns) total += ran_ns;
  }
  return total;
}

}  // namespace redlock::bench
