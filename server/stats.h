// What a node counts, for INFO. CONFIG RESETSTAT sets all of it to zero.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <map>
#include <string>

namespace redlock::server {

struct CommandStats {
  std::uint64_t calls = 0;
  std::uint64_t rejected = 0;  // before it ran: words, password, busy
  std::uint64_t failed = 0;    // it ran and answered an error
};

struct Stats {
  std::uint64_t connections_received = 0;
  std::uint64_t connections_rejected = 0;
  std::uint64_t commands_processed = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::map<std::string, std::uint64_t, std::less<>> errors;  // by the first word of the text

  // Locks.
  std::uint64_t granted = 0;       // another value under a key (rule L4)
  std::uint64_t extended = 0;      // the same value, a new deadline
  std::uint64_t refused_held = 0;  // asked for with NX and held
  std::uint64_t released = 0;
  std::uint64_t refused_recovering = 0;
  std::uint64_t ttl_imposed = 0;  // keys that got max-ttl because nobody set a TTL (rule L2)
  Duration max_ttl_granted{};
  Duration reclaim_lag{};  // of the lock given back last: from its deadline to that moment
};

}  // namespace redlock::server
