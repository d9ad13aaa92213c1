#include "base/text/number.h"

namespace redlock {

std::optional<std::int64_t> parse_int64(std::string_view text) {
  const bool is_digit = text.size() == 1 && text.front() >= '0' && text.front() <= '9';
  if (is_digit) return text.front() - '0';  // as most are: the number of a script's keys
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty()) return std::nullopt;
  if (digits.front() == '0' && text.size() > 1) return std::nullopt;  // "007" and "-0"
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace redlock
