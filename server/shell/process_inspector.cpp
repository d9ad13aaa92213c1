#include "server/shell/process_inspector.h"

#include "server/shell/posix_file.h"

#include <array>
#include <cstdio>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::server {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::string executable_path() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string();
}

std::uint64_t resident_bytes() {
  unsigned long total = 0;
  unsigned long resident = 0;
  if (std::sscanf(read_proc("/proc/self/statm").c_str(), "%lu %lu", &total, &resident) != 2) {
    return 0;
  }
  return std::uint64_t{resident} * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

ProcessInspector process_inspector(std::string config_file, std::uint16_t port, bool owns_process) {
  ProcessFacts constant;
  utsname system{};
  uname(&system);
  constant.pid = getpid();
  constant.os = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  constant.compiler = fmt::format("{}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
  constant.executable = executable_path();
  constant.config_file = std::move(config_file);
  constant.port = port;
  return [constant, owns_process] {
    ProcessFacts facts = constant;
    if (owns_process) {
      const struct mallinfo2 heap = mallinfo2();
      facts.heap_bytes = heap.uordblks + heap.hblkhd;
    }
    facts.resident_bytes = resident_bytes();
    struct sysinfo machine {};
    sysinfo(&machine);
    facts.system_memory_bytes = std::uint64_t{machine.totalram} * machine.mem_unit;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    facts.cpu_user_seconds = seconds(usage.ru_utime);
    facts.cpu_system_seconds = seconds(usage.ru_stime);
    getrusage(RUSAGE_THREAD, &usage);
    facts.thread_user_seconds = seconds(usage.ru_utime);
    facts.thread_system_seconds = seconds(usage.ru_stime);
    return facts;
  };
}

}  // namespace redlock::server
