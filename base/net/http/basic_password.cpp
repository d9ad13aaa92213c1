#include "base/net/http/basic_password.h"

#include "base/text/words.h"

#include <cstdint>

namespace redlock::net {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// RFC 4648 §4: four digits are three bytes, and '=' stands for those that a shorter end lacks.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xFFFF;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

}  // namespace

// A user's name has no colon; a password may have several.
std::optional<std::string> basic_password(std::string_view authorization) {
  constexpr std::string_view kScheme = "Basic";
  if (!equals_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  authorization.remove_prefix(kScheme.size());
  const std::size_t begin = authorization.find_first_not_of(' ');
  if (begin == 0 || begin == std::string_view::npos) return std::nullopt;
  const auto credentials = from_base64(authorization.substr(begin));
  if (!credentials) return std::nullopt;
  const std::size_t colon = credentials->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return credentials->substr(colon + 1);
}

}  // namespace redlock::net
