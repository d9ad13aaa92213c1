// Randomness as the pure parts see it: a generator that was handed in, from a seed.
//
// xoshiro256** by Blackman and Vigna (https://prng.di.unimi.it/), seeded by SplitMix64: the same
// seed gives the same numbers on every machine, so a run can be replayed. Not for secrets: the
// random value of a lock comes from the system's generator: rule Q6,
// base/net/process/system_random.h.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace redlock {

class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed);

  std::uint64_t operator()();

  // Evenly from [0, bound). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace redlock
