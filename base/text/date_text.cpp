#include "base/text/date_text.h"

#include <array>
#include <ctime>

namespace redlock {

std::string utc_text(std::int64_t seconds, const char* format) {
  const std::time_t time = seconds;
  std::tm date = {};
  gmtime_r(&time, &date);
  std::array<char, 65> text = {};
  return std::string(text.data(), std::strftime(text.data(), text.size(), format, &date));
}

}  // namespace redlock
