// Whether a password is the one that is wanted.
#pragma once

#include <cstddef>
#include <string_view>

namespace redlock {

// How long it takes tells who guesses nothing but the wanted one's length.
inline bool is_same_secret(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const char there = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(there ^ wanted[i]);
  }
  return difference == 0;
}

}  // namespace redlock
