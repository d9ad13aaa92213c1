// The system's random generator: seeds, and the values of locks (rule Q6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace redlock::net {

// Fills all of it; waits at boot until the kernel's generator is ready, never fails.
void system_random(std::span<unsigned char> bytes);

std::uint64_t system_random_seed();

// The same bytes, of which the system is asked for many at once: a system call less for each value.
// What was handed out is forgotten. REQUIRES: the process does not fork while it lives, as parent
// and child would draw the same.
class RandomPool {
 public:
  void fill(std::span<unsigned char> bytes);

 private:
  std::array<unsigned char, 2048> pool_ = {};
  std::size_t left_ = 0;  // its last ones
};

}  // namespace redlock::net
