#include "base/text/printable.h"

#include "base/text/utf8.h"

#include <fmt/format.h>

namespace redlock {
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

namespace {

bool is_shown(const Utf8Character& character) {
  return character.is_well_formed && !is_control(character.code);
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (!is_shown(character)) return false;
    text.remove_prefix(character.size);
  }
  return true;
}

std::string cut_to_columns(std::string_view text, std::size_t columns) {
  constexpr std::string_view kLeftOut = "..";
  std::size_t width = 0;
  std::size_t fits = 0;  // bytes, with room for what stands for the rest
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = first_character(text.substr(at)).size;
    width += size == 1 ? 1 : 2;
    if (width > columns) return std::string(text.substr(0, fits)) + std::string(kLeftOut);
    at += size;
    if (width + kLeftOut.size() <= columns) fits = at;
  }
  return std::string(text);
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kColumnsMax = 60;
  return cut_to_columns(printable(name), kColumnsMax);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.size);
    if (is_shown(character)) {
      out += bytes;
    } else {
      for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace redlock
