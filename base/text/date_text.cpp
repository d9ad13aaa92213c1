#include "base/text/date_text.h"

#include <array>
#include <ctime>

#include <fmt/format.h>

namespace redlock {

using std::chrono::floor;

std::string utc_text(WallTime when, const char* format) {
  const std::time_t time = floor<std::chrono::seconds>(when.time_since_epoch()).count();
  std::tm date = {};
  gmtime_r(&time, &date);
  std::array<char, 65> text = {};
  return std::string(text.data(), std::strftime(text.data(), text.size(), format, &date));
}

std::string utc_ms_text(WallTime when, const char* format) {
  const auto ms = floor<std::chrono::milliseconds>(when.time_since_epoch()) % 1s;
  return fmt::format("{}.{:03}", utc_text(when, format), ms.count());
}

}  // namespace redlock
