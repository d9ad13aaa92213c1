// Asks the processor to fetch memory that is about to be used: a hint that never fails and changes
// nothing but the time it takes.
#pragma once

#include <cstddef>

namespace redlock {

inline constexpr std::size_t kCacheLineBytes = 64;

// The empty statement keeps GCC from finding that a function which only fetches has no effect, and
// leaving out the calls of it (seen with 12.2).
inline void prefetch(const void* memory) {
  __builtin_prefetch(memory);
  asm volatile("" : : "r"(memory));
}

}  // namespace redlock
