// What every target has: its entry, and ways to take an input apart.
#pragma once

#include "base/invariant.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redlock::fuzz {

// One input. What a target checks is an INVARIANT.
void run(std::string_view input);

// Takes what stands before the separator off the text, and the separator.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

inline std::uint8_t take_byte(std::string_view& text) {
  if (text.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(text.front());
  text.remove_prefix(1);
  return byte;
}

inline std::string_view take(std::string_view& text, std::size_t size) {
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(taken.size());
  return taken;
}

}  // namespace redlock::fuzz
