#include "base/log.h"

#include "base/text/date_text.h"
#include "base/text/printable.h"

#include <fmt/format.h>

namespace redlock {

std::string log_line(int pid, WallTime when, LogLevel level, std::string_view text) {
  constexpr std::string_view kSigns = ".-*#";
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch()).count();
  return fmt::format("{}:M {}.{:03} {} {}\n", pid, utc_text(ms / 1000, "%d %b %Y %H:%M:%S"),
                     ms % 1000, kSigns[static_cast<std::size_t>(level)], printable(text));
}

}  // namespace redlock
