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
// What was handed out is forgotten. A forked child finds its pool empty, so parent and child never
// draw the same; on a kernel that does not promise that (before 4.14) each value is the system's.
//
// Thread safety: none.
class RandomPool {
 public:
  RandomPool();
  ~RandomPool();
  RandomPool(const RandomPool&) = delete;
  RandomPool& operator=(const RandomPool&) = delete;

  void fill(std::span<unsigned char> bytes);

 private:
  // In memory that the kernel wipes in a child.
  struct Pool {
    std::size_t left;  // its last ones
    std::array<unsigned char, 2048> bytes;
  };
  Pool* pool_;  // nullptr: there is no such memory
};

}  // namespace redlock::net
