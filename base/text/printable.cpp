#include "base/text/printable.h"

#include <cstdint>

#include <fmt/format.h>

namespace redlock {
namespace {

struct Character {
  std::size_t size = 1;  // bytes of it; 1 for a byte that begins none
  bool is_shown = false;
};

// Control characters of ASCII and of Latin-1, and those of the bidirectional algorithm.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// Neither a longer form of a shorter character, nor half of a surrogate pair, nor beyond the last.
bool is_scalar(std::uint32_t code, std::size_t size) {
  constexpr std::uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
  return code >= kFirst[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

// REQUIRES: the text is not empty.
Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xc0 ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                                          : 4;
  if (size == 0 || first >= 0xf8 || text.size() < size) return {};
  std::uint32_t code = size == 1 ? first : first & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte & 0x3fu);
  }
  return {size, is_scalar(code, size) && !is_control(code)};
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.is_shown) return false;
    text.remove_prefix(character.size);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.size);
    if (character.is_shown) {
      out += bytes;
    } else {
      for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace redlock
