#include "base/memory/zeroed_pages.h"

#include "base/invariant.h"

#include <cstdint>
#include <sys/mman.h>

namespace redlock {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} * 1024 * 1024;
constexpr std::size_t kPageBytesMax = std::size_t{64} * 1024;  // of all systems

}  // namespace

ZeroedPages::ZeroedPages(std::size_t bytes)
    : bytes_((bytes + kPageBytesMax - 1) & ~(kPageBytesMax - 1)) {
  void* const found = mmap(nullptr, bytes_ + kHugePageBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  INVARIANT(found != MAP_FAILED, "no memory for a table");
  auto* const memory = static_cast<char*>(found);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) % kHugePageBytes;
  if (before > 0) munmap(memory, before);
  munmap(memory + before + bytes_, kHugePageBytes - before);
  begin_ = memory + before;
  madvise(begin_, bytes_, MADV_NOHUGEPAGE);
}

ZeroedPages::~ZeroedPages() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

void ZeroedPages::let_be_huge() {
  madvise(begin_, bytes_, MADV_HUGEPAGE);
}

}  // namespace redlock
