// A lock as the library's users hold it, and as the group does.
#pragma once

#include "coordinator/group/group.h"
#include <redlock/client.h>

namespace redlock::coordinator {

inline Lock public_lock(const HeldLock& lock) {
  return {.name = lock.claim->name,
          .value = lock.claim->value,
          .ttl = lock.ttl,
          .valid_until = lock.valid_until.time_since_epoch(),
          .token = lock.token,
          .round_trips = lock.round_trips};
}

inline HeldLock held_lock(const Lock& lock) {
  return {.claim = std::make_shared<const Claim>(Claim{lock.name, lock.value}),
          .ttl = lock.ttl,
          .valid_until = Instant(lock.valid_until),
          .token = lock.token,
          .round_trips = lock.round_trips};
}

}  // namespace redlock::coordinator
