#include "server/settings/setting_values.h"

#include "base/text/duration_text.h"
#include "base/text/number.h"
#include "base/text/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace redlock::server {
namespace {

struct MemoryUnit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array kMemoryUnits = {MemoryUnit{"", 1},
                                     MemoryUnit{"b", 1},
                                     MemoryUnit{"k", 1000},
                                     MemoryUnit{"kb", 1 << 10},
                                     MemoryUnit{"m", 1'000'000},
                                     MemoryUnit{"mb", 1 << 20},
                                     MemoryUnit{"g", 1'000'000'000},
                                     MemoryUnit{"gb", 1 << 30}};

// Seconds that fit a Duration, with room to add to an instant.
constexpr std::int64_t kSoftSecondsMax = std::numeric_limits<std::int32_t>::max();

Failure out_of_range(std::string_view low, std::string_view high) {
  return Failure{fmt::format("argument must be between {} and {} inclusive", low, high)};
}

// Plain numbers where Redis has them, readable ones where the unit is ours.
std::string bound_text(Duration bound, Duration unit) {
  return unit == 1s ? fmt::format("{}", bound / 1s) : duration_text(bound);
}

}  // namespace

Result<bool> read_yes_no(std::string_view word) {
  if (equals_ignoring_case(word, "yes")) return true;
  if (equals_ignoring_case(word, "no")) return false;
  return Failure{"argument must be 'yes' or 'no'"};
}

std::string yes_no_text(bool value) {
  return value ? "yes" : "no";
}

Result<std::int64_t> read_integer(std::string_view word, std::int64_t low, std::int64_t high) {
  const auto number = parse_int64(word);
  if (!number) return Failure{"argument couldn't be parsed into an integer"};
  if (*number < low || *number > high) {
    return out_of_range(fmt::to_string(low), fmt::to_string(high));
  }
  return *number;
}

Result<std::uint32_t> read_octal(std::string_view word) {
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), mode, 8);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) {
    return Failure{"argument couldn't be parsed as an octal number"};
  }
  if (mode > 0777) return out_of_range("0", "777");
  return mode;
}

std::string octal_text(std::uint32_t mode) {
  return fmt::format("{:o}", mode);
}

Result<std::uint64_t> read_memory(std::string_view word) {
  const Failure not_memory{"argument must be a memory value"};
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc()) return not_memory;
  const std::string_view name(end, static_cast<std::size_t>(word.data() + word.size() - end));
  for (const MemoryUnit& unit : kMemoryUnits) {
    if (!equals_ignoring_case(name, unit.name)) continue;
    if (count > std::numeric_limits<std::int64_t>::max() / unit.bytes) return not_memory;
    return count * unit.bytes;
  }
  return not_memory;
}

Result<Duration> read_duration(std::string_view word, Duration unit, Duration low, Duration high) {
  Duration length{};
  if (const auto number = parse_int64(word)) {
    if (*number < low / unit || *number > high / unit) {
      return out_of_range(bound_text(low, unit), bound_text(high, unit));
    }
    length = *number * unit;
  } else {
    const auto parsed = parse_duration(word);
    if (!parsed) return parsed.error();
    length = parsed.value();
  }
  if (length < low || length > high) {
    return out_of_range(bound_text(low, unit), bound_text(high, unit));
  }
  if (length % unit != 0ns) {
    return Failure{fmt::format("argument must be a whole number of {}",
                               unit == 1s ? "seconds" : "milliseconds")};
  }
  return length;
}

Result<Duration> read_redis_duration(std::string_view word, Duration unit, Duration low,
                                     Duration high) {
  if (!parse_int64(word) && !parse_duration(word)) {
    return Failure{"argument couldn't be parsed into an integer"};
  }
  return read_duration(word, unit, low, high);
}

Result<double> read_share(std::string_view word, double high) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) {
    return Failure{"argument couldn't be parsed into a number"};
  }
  if (!(number > 0 && number <= high)) {  // also what is not a number at all
    return Failure{fmt::format("argument must be above 0 and at most {}", high)};
  }
  return number;
}

std::string share_text(double value) {
  return fmt::format("{}", value);
}

Result<std::size_t> read_choice(std::string_view word, std::span<const std::string_view> names) {
  std::size_t index = 0;
  for (const std::string_view name : names) {
    if (equals_ignoring_case(word, name)) return index;
    ++index;
  }
  return Failure{
      fmt::format("argument(s) must be one of the following: {}", fmt::join(names, ", "))};
}

std::vector<std::string> split_blanks(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) return words;
    text.remove_prefix(start);
    const std::size_t length = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

Result<OutputLimits> read_output_limits(const std::vector<std::string>& words,
                                        OutputLimits before) {
  if (words.size() == 1) {
    if (const auto bytes = read_memory(words[0])) {
      return OutputLimits{{bytes.value(), 0, 0s}, {bytes.value(), 0, 0s}};
    }
  }
  if (words.empty() || words.size() % 4 != 0) {
    return Failure{"Wrong number of arguments in buffer limit configuration."};
  }
  constexpr std::string_view kClasses[] = {"normal", "pubsub", "replica", "slave"};
  for (std::size_t at = 0; at < words.size(); at += 4) {
    const auto client_class = read_choice(words[at], kClasses);
    if (!client_class) {
      return Failure{"Invalid client class specified in buffer limit configuration."};
    }
    const auto hard = read_memory(words[at + 1]);
    const auto soft = read_memory(words[at + 2]);
    const auto seconds = parse_int64(words[at + 3]);
    if (!hard || !soft || !seconds || *seconds < 0 || *seconds > kSoftSecondsMax) {
      return Failure{"Error in hard, soft or soft_seconds setting in buffer limit configuration."};
    }
    if (client_class.value() > 1) continue;
    OutputLimit& limit = client_class.value() == 0 ? before.normal : before.listener;
    limit = OutputLimit{hard.value(), soft.value(), *seconds * 1s};
  }
  return before;
}

std::string output_limits_text(const OutputLimits& limits) {
  const auto figures = [](const OutputLimit& limit) {
    return fmt::format("{} {} {}", limit.hard, limit.soft, limit.soft_time / 1s);
  };
  return fmt::format("normal {} slave 0 0 0 pubsub {}", figures(limits.normal),
                     figures(limits.listener));
}

Result<RestartDelay> read_restart_delay(std::string_view word) {
  if (equals_ignoring_case(word, "auto")) return RestartDelay{};
  if (equals_ignoring_case(word, "off")) return RestartDelay{RestartDelay::Mode::off, {}};
  const auto fixed = parse_duration(word);
  if (!fixed || fixed.value() < 1ms) {
    return Failure{"argument must be 'auto', 'off' or a duration such as 30s"};
  }
  return RestartDelay{RestartDelay::Mode::fixed, fixed.value()};
}

std::string restart_delay_text(const RestartDelay& delay) {
  switch (delay.mode) {
    case RestartDelay::Mode::by_facts:
      return "auto";
    case RestartDelay::Mode::off:
      return "off";
    case RestartDelay::Mode::fixed:
      break;
  }
  return duration_text(delay.fixed);
}

}  // namespace redlock::server
