// How a simulator takes memory: before anything else in main.
#pragma once

#include <malloc.h>

namespace redlock::simulation {

// Worlds come and go by the thousand, each with the tables of some nodes, of which it touches
// little. By itself glibc takes such a table from the system once, and from then on out of what is
// free, which it has to fill with zeros; and gives the top of that back each time. Both cost a
// sixth of a run.
inline void settle_memory() {
  constexpr int kLargeBytes = 1 << 20;  // the heads of release marks are larger
  constexpr int kKeptBytes = 16 << 20;  // more than a world needs besides
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  mallopt(M_TRIM_THRESHOLD, 4 * kKeptBytes);
  mallopt(M_TOP_PAD, kKeptBytes);
}

}  // namespace redlock::simulation
