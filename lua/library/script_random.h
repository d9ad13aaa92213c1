// math.random's numbers: the 48-bit generator of drand48, as in Redis, so that a script draws the
// same numbers as there. Every script starts from the same seed: scripts are to be repeatable.
#pragma once

#include <cstdint>

namespace redlock::lua {

class ScriptRandom {
 public:
  ScriptRandom() { seed(0); }

  void seed(std::int32_t seed) {
    constexpr std::uint64_t kLowWord = 0x330E;
    state_ = static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed)) << 16 | kLowWord;
  }

  // 31 bits.
  std::int32_t next() {
    constexpr std::uint64_t kFactor = 0x5DEECE66D;
    constexpr std::uint64_t kStep = 0xB;
    constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;
    state_ = (state_ * kFactor + kStep) & kMask;
    return static_cast<std::int32_t>(state_ >> 17);
  }

  // From [0, 1).
  double next_fraction() { return static_cast<double>(next() % INT32_MAX) / INT32_MAX; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace redlock::lua
