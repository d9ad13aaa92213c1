#include "base/net/process/spare_descriptors.h"

#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <uv.h>

namespace redlock::net {

Status try_descriptors(int count, std::string_view what) {
  std::vector<int> held;
  int reason = 0;
  while (static_cast<int>(held.size()) < count) {
    const int descriptor = eventfd(0, EFD_CLOEXEC);
    if (descriptor < 0) {
      reason = errno;
      break;
    }
    held.push_back(descriptor);
  }
  for (const int descriptor : held) close(descriptor);
  if (static_cast<int>(held.size()) == count) return Done{};
  return Failure{
      fmt::format("{} needs {} file descriptors, and the process has fewer left ({}): raise its "
                  "limit (ulimit -n)",
                  what, count, uv_strerror(uv_translate_sys_error(reason)))};
}

}  // namespace redlock::net
