// The checksum of the node's files: XXH3, 64 bits. It finds what disks and crashes do to bytes; it
// is no defence against somebody who can write to the folder.
#pragma once

#include "base/hash.h"

#include <cstdint>
#include <string_view>

namespace redlock::server {

// Over bytes that come in pieces; how they are cut does not matter.
class Checksum {
 public:
  Checksum() { XXH3_64bits_reset(&state_); }

  void add(std::string_view bytes) { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  std::uint64_t value() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_{};
};

inline std::uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace redlock::server
