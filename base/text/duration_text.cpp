#include "base/text/duration_text.h"

#include "base/text/number.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace redlock {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};

constexpr std::array kUnits = {Unit{"d", std::chrono::hours(24)}, Unit{"h", 1h}, Unit{"m", 1min},
                               Unit{"s", 1s}, Unit{"ms", 1ms}};

// "1.50s": a count of 1, the fraction "50", the unit "s".
struct Parts {
  std::int64_t count = 0;
  std::string_view fraction;
  std::string_view unit;
};

std::string_view take_digits(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

std::optional<Parts> split(std::string_view text) {
  const auto count = parse_int64(take_digits(text));
  if (!count) return std::nullopt;
  Parts parts{*count, {}, {}};
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = take_digits(text);
    if (parts.fraction.empty()) return std::nullopt;
  }
  parts.unit = text;
  return parts;
}

// nullopt if a digit is worth no whole number of nanoseconds.
std::optional<Duration> fraction_of(Duration unit, std::string_view digits) {
  Duration sum = 0ns;
  for (const char digit : digits) {
    if (unit % 10 != 0ns) return std::nullopt;
    unit /= 10;
    sum += (digit - '0') * unit;
  }
  return sum;
}

Result<Duration> length_of(const Parts& parts, const Unit& unit, std::string_view text) {
  const auto fraction = fraction_of(unit.length, parts.fraction);
  if (!fraction) return Failure{fmt::format("'{}' is finer than a nanosecond", text)};
  if (parts.count >= kDurationTextMax / unit.length) {
    const bool is_longest =
        parts.count == kDurationTextMax / unit.length && fraction == Duration(0);
    if (!is_longest) {
      return Failure{
          fmt::format("'{}' is too long: at most {}", text, duration_text(kDurationTextMax))};
    }
  }
  return parts.count * unit.length + *fraction;
}

// what_is: what the error says of a text that is no duration.
Result<Duration> parse(std::string_view text, std::string_view unit_of_none,
                       std::string_view what_is) {
  if (const auto parts = split(text)) {
    const bool is_plain = parts->unit.empty() && parts->fraction.empty();
    const std::string_view name = is_plain ? unit_of_none : parts->unit;
    for (const Unit& unit : kUnits) {
      if (name == unit.name) return length_of(*parts, unit, text);
    }
  }
  return Failure{fmt::format("'{}' is not a duration: {}", text, what_is)};
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  return parse(text, "ms", "write milliseconds (1500) or a number with a unit (30s, 1.5s, 5m, 1h)");
}

Result<Duration> parse_duration_with_unit(std::string_view text) {
  if (text == "0") return Duration(0);
  const auto parts = split(text);
  if (parts && parts->unit.empty()) {
    return Failure{fmt::format("{0}: a duration needs a unit: {0}s, {0}ms, {0}m", text)};
  }
  return parse(text, "", "write a number with a unit (30s, 1.5s, 500ms, 5m, 1h)");
}

std::string duration_text(Duration d) {
  for (const Unit& unit : kUnits) {
    if (d >= unit.length && d % unit.length == 0ns) {
      return fmt::format("{}{}", d / unit.length, unit.name);
    }
  }
  return fmt::format("{}ms", ceil_ms(d));
}

std::string rough_duration(Duration d) {
  const std::int64_t seconds = std::max<std::int64_t>(d / 1s, 0);
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  if (seconds < kMinute) return fmt::format("{} s", seconds);
  if (seconds < kHour) return fmt::format("{} min {} s", seconds / kMinute, seconds % kMinute);
  if (seconds < kDay) {
    return fmt::format("{} h {} min", seconds / kHour, seconds % kHour / kMinute);
  }
  return fmt::format("{} d {} h", seconds / kDay, seconds % kDay / kHour);
}

std::string spoken_duration(Duration d) {
  const std::int64_t ms = ceil_ms(d);
  if (ms < 1000) return fmt::format("{} ms", ms);
  return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
}

}  // namespace redlock
