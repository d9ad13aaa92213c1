#include "base/text/utf8.h"

#include "base/invariant.h"

namespace redlock {
namespace {

// Neither a longer form of a shorter character, nor half of a surrogate pair, nor beyond the last.
bool is_scalar(std::uint32_t code, std::size_t size) {
  constexpr std::uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
  return code >= kFirst[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  INVARIANT(!text.empty(), "an empty text has no first character");
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
  return {size, code, is_scalar(code, size)};
}

}  // namespace redlock
