// Numbers in text, read as strictly as Redis does: what is accepted reads back as the same text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace redlock {

// A decimal integer: an optional '-', no '+', no leading zeros, no blanks, no "-0"; fits 64 bits.
std::optional<std::int64_t> parse_int64(std::string_view text);

}  // namespace redlock
