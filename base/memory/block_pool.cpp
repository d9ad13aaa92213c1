#include "base/memory/block_pool.h"

#include <sys/mman.h>

namespace redlock {

BlockPool::~BlockPool() {
  for (char* region : regions_) munmap(region, kRegionBytes);
}

char* BlockPool::take() {
  if (unused_.empty() && !add_region()) return nullptr;
  char* const block = unused_.back();
  unused_.pop_back();
  return block;
}

// The system cannot refuse to take pages back; if it ever did, they would only count for longer.
void BlockPool::give_back(char* block) {
  madvise(block, kBlockBytes, MADV_DONTNEED);
  unused_.push_back(block);
}

bool BlockPool::add_region() {
  void* const found =
      mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return false;
  auto* const region = static_cast<char*>(found);
  regions_.push_back(region);
  for (std::size_t end = kRegionBytes; end > 0; end -= kBlockBytes) {
    unused_.push_back(region + end - kBlockBytes);  // the first is handed out first
  }
  return true;
}

}  // namespace redlock
