// A text so many times.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock {

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace redlock
