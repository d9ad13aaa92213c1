#include "server/sockets/descriptor_limit.h"

#include <algorithm>
#include <sys/resource.h>

#include <fmt/format.h>

namespace redlock::server {

void raise_descriptor_limit(Settings& settings, LogSink& log, std::uint32_t own) {
  const rlim_t wanted = rlim_t{settings.maxclients} + own;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(limit.rlim_max, wanted);
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return;
  const auto possible = static_cast<std::uint32_t>(limit.rlim_cur > own ? limit.rlim_cur - own : 1);
  log.log(
      LogLevel::warning,
      fmt::format("the system allows {} open files (ulimit -n), so maxclients is {} instead of {}",
                  limit.rlim_cur, possible, settings.maxclients));
  settings.maxclients = possible;
}

}  // namespace redlock::server
