#include "protocol/access/password_hash.h"

#include <algorithm>
#include <cstdint>
#include <sha2.h>
#include <sys/types.h>

namespace redlock::protocol {

std::string password_hash(std::string_view password) {
  char digits[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data(reinterpret_cast<const std::uint8_t*>(password.data()), password.size(), digits);
  return std::string(digits, kPasswordHashDigits);
}

bool is_password_hash(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kPasswordHashDigits && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace redlock::protocol
