// Passwords as users have them: SHA-256, so that neither a list of users nor their file tells one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::protocol {

inline constexpr std::size_t kPasswordHashDigits = 64;

// 64 lower-case hexadecimal digits.
std::string password_hash(std::string_view password);
bool is_password_hash(std::string_view text);

}  // namespace redlock::protocol
