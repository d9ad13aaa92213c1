#include "base/log.h"

#include "base/text/date_text.h"
#include "base/text/printable.h"

#include <fmt/format.h>

namespace redlock {

std::string log_line(int pid, WallTime when, LogLevel level, std::string_view text) {
  constexpr std::string_view kSigns = ".-*#";
  return fmt::format("{}:M {} {} {}\n", pid, utc_ms_text(when, "%d %b %Y %H:%M:%S"),
                     kSigns[static_cast<std::size_t>(level)], printable(text));
}

}  // namespace redlock
