// The system's random generator: seeds, and the values of locks (rule Q6).
#pragma once

#include <cstdint>
#include <span>

namespace redlock::net {

// Fills all of it; waits at boot until the kernel's generator is ready, never fails.
void system_random(std::span<unsigned char> bytes);

std::uint64_t system_random_seed();

}  // namespace redlock::net
