#include "base/net/process/system_random.h"

#include "base/invariant.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
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

RandomPool::RandomPool() {
  void* const memory =
      mmap(nullptr, sizeof(Pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  INVARIANT(memory != MAP_FAILED, "the system has no memory");
  pool_ = static_cast<Pool*>(memory);
  if (madvise(memory, sizeof(Pool), MADV_WIPEONFORK) == 0) return;
  munmap(memory, sizeof(Pool));
  pool_ = nullptr;
}

RandomPool::~RandomPool() {
  if (pool_ != nullptr) munmap(pool_, sizeof(Pool));
}

void RandomPool::fill(std::span<unsigned char> bytes) {
  if (pool_ == nullptr || bytes.size() > pool_->bytes.size()) return system_random(bytes);
  if (bytes.size() > pool_->left) {
    system_random(pool_->bytes);
    pool_->left = pool_->bytes.size();
  }
  const auto drawn = std::span(pool_->bytes).last(pool_->left).first(bytes.size());
  std::copy(drawn.begin(), drawn.end(), bytes.begin());
  std::fill(drawn.begin(), drawn.end(), static_cast<unsigned char>(0));
  pool_->left -= bytes.size();
}

}  // namespace redlock::net
