// What a front door counts, for INFO.
#pragma once

#include "base/duration_buckets.h"

#include <cstdint>

namespace redlock::coordinator {

struct DoorStats {
  std::uint64_t granted = 0;
  DurationBuckets grant_times;  // of them: from when the command came, with its turn in line
  DurationBuckets turn_waits;   // of commands that did not have their turn at once (rule D10)
  std::uint64_t refused_held = 0;
  std::uint64_t extended = 0;
  std::uint64_t shortened = 0;
  std::uint64_t replaced = 0;  // got another value
  std::uint64_t released = 0;
  DurationBuckets left_at_release;  // of them, as far as it is known: until the TTL is over
  std::uint64_t released_late = 0;  // of them, with less than a fifth of their TTL left
  std::uint64_t undone_late = 0;    // creations, decided or handed on too late (rule D2)
  std::uint64_t undone_gone = 0;    // whose clients had gone (rule D5)
  std::uint64_t no_quorum = 0;
  std::uint64_t possible = 0;    // it could not be told who holds the lock
  std::uint64_t runs = 0;        // on the scratch node
  std::uint64_t runs_again = 0;  // of a command: beyond its first
  std::uint64_t readings = 0;
  std::uint64_t shared = 0;  // commands that another's reading or vote answered (rule D10)
};

}  // namespace redlock::coordinator
