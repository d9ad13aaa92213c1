// A keyed 64-bit hash for tables whose keys come from outside: XXH3 with a secret seed, so that a
// client cannot prepare keys that all fall together.
#pragma once

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace redlock {

inline std::uint64_t keyed_hash(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace redlock
