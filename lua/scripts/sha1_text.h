// SHA-1 as Redis writes it: 40 lower-case hex digits. It names scripts; it protects nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::lua {

inline constexpr std::size_t kSha1Digits = 40;

std::string sha1_text(std::string_view bytes);

}  // namespace redlock::lua
