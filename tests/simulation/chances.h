// Chances: what a generator draws from a seed. Asked once in a statement: what is left to the
// compiler's order would make another scenario of the same seed.
#pragma once

#include "base/random.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace redlock::simulation {

class Chances {
 public:
  explicit Chances(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + random_.below(most - least + 1);
  }
  bool one_in(std::uint64_t many) { return random_.below(many) == 0; }
  std::chrono::milliseconds ms_between(std::uint64_t least, std::uint64_t most) {
    return std::chrono::milliseconds(between(least, most));
  }
  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& choices) {
    return choices[random_.below(N)];
  }

 private:
  Random random_;
};

}  // namespace redlock::simulation
