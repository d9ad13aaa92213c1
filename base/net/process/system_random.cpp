#include "base/net/process/system_random.h"

#include "base/invariant.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

namespace redlock::net {

void system_random(std::span<unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    INVARIANT(got >= 0 || errno == EINTR, "the system gives no random numbers");
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::uint64_t system_random_seed() {
  std::array<unsigned char, sizeof(std::uint64_t)> bytes{};
  system_random(bytes);
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

void RandomPool::fill(std::span<unsigned char> bytes) {
  if (bytes.size() > pool_.size()) return system_random(bytes);
  if (bytes.size() > left_) {
    system_random(pool_);
    left_ = pool_.size();
  }
  const auto drawn = std::span(pool_).last(left_).first(bytes.size());
  std::copy(drawn.begin(), drawn.end(), bytes.begin());
  std::fill(drawn.begin(), drawn.end(), static_cast<unsigned char>(0));
  left_ -= bytes.size();
}

}  // namespace redlock::net
