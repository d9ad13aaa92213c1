// A lock that was acquired, as its holder keeps it.
#pragma once

#include "coordinator/link/node_request.h"
#include "coordinator/quorum/witnesses.h"

#include <string>
#include <utility>

namespace redlock::coordinator {

struct HeldLock {
  SharedClaim claim = {};
  Duration ttl = 0ns;
  Instant valid_until = {};        // kNever: not known, it was acquired elsewhere
  Token token = 0;                 // 0: none, or not known
  unsigned round_trips = 0;        // that it took to get; 0: not known
  SharedWitnesses witnesses = {};  // null: not known, as through Client::extend
};

// Whether a release that is asked for at this instant came so late that the next one may come too
// late: less than a fifth of the TTL was left.
inline bool is_late_release(Instant valid_until, Duration ttl, Instant asked) {
  return valid_until != kNever && asked > valid_until - ttl / 5;
}

// A lock of which only name and value are known, as another process told them.
inline HeldLock known_lock(std::string name, std::string value, Duration ttl) {
  return {.claim = std::make_shared<const Claim>(Claim{std::move(name), std::move(value)}),
          .ttl = ttl,
          .valid_until = kNever};
}

}  // namespace redlock::coordinator
