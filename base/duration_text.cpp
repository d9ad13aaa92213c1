#include "base/duration_text.h"

#include "base/number.h"

#include <array>
#include <cctype>

#include <fmt/format.h>

namespace redlock {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};

constexpr std::array kUnits = {Unit{"d", std::chrono::hours(24)}, Unit{"h", 1h}, Unit{"m", 1min},
                               Unit{"s", 1s}, Unit{"ms", 1ms}};

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto not_a_duration = [&] {
    return Failure{fmt::format(
        "'{}' is not a duration: write milliseconds (1500) or a number with a unit (30s, 5m, 1h)",
        text)};
  };
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_int64(text.substr(0, digits));
  if (!count) return not_a_duration();
  const std::string_view name = digits == text.size() ? "ms" : text.substr(digits);
  for (const Unit& unit : kUnits) {
    if (name != unit.name) continue;
    if (*count > kDurationTextMax / unit.length) {
      return Failure{
          fmt::format("'{}' is too long: at most {}", text, duration_text(kDurationTextMax))};
    }
    return *count * unit.length;
  }
  return not_a_duration();
}

std::string duration_text(Duration d) {
  for (const Unit& unit : kUnits) {
    if (d >= unit.length && d % unit.length == 0ns) {
      return fmt::format("{}{}", d / unit.length, unit.name);
    }
  }
  return fmt::format("{}ms", ceil_ms(d));
}

std::string spoken_duration(Duration d) {
  const std::int64_t ms = ceil_ms(d);
  if (ms < 1000) return fmt::format("{} ms", ms);
  return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
}

}  // namespace redlock
