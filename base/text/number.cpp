#include "base/text/number.h"

namespace redlock {

std::optional<std::int64_t> parse_int64(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty()) return std::nullopt;
  if (digits.front() == '0' && text.size() > 1) return std::nullopt;  // "007" and "-0"
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace redlock
