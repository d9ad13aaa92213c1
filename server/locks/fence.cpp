#include "server/locks/fence.h"

#include "base/hash.h"
#include "base/invariant.h"

namespace redlock::server {

std::size_t Fence::slot_of(std::string_view key) {
  return keyed_hash(key, 0) % kSlots;
}

void Fence::reach_everywhere(std::uint64_t floor) {
  INVARIANT(has_room_for(floor), "no counter is larger than the durable bound (rule F1)");
  for (std::size_t slot = 0; slot < kSlots; ++slot) raise(slot, floor);
}

}  // namespace redlock::server
