// UTF-8, read a character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redlock {

struct Utf8Character {
  std::size_t size = 1;  // in bytes; 1 for a byte that begins no character
  std::uint32_t code = 0;
  bool is_well_formed = false;
};

// The text's first character. Longer forms of a shorter character, halves of a surrogate pair and
// codes beyond the last are not well formed; their bytes are counted all the same.
// REQUIRES: the text is not empty.
Utf8Character first_character(std::string_view text);

}  // namespace redlock
