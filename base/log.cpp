#include "base/log.h"

#include "base/text/printable.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace redlock {

std::string log_line(int pid, WallTime when, LogLevel level, std::string_view text) {
  constexpr std::string_view kSigns = ".-*#";
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch()).count();
  const std::tm date = fmt::gmtime(static_cast<std::time_t>(ms / 1000));
  return fmt::format("{}:M {:%d %b %Y %H:%M:%S}.{:03} {} {}\n", pid, date, ms % 1000,
                     kSigns[static_cast<std::size_t>(level)], printable(text));
}

}  // namespace redlock
