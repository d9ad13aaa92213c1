#include "lua/engine/memory_account.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace redlock::lua {

MemoryAccount::~MemoryAccount() {
  for (Kept& kept : kept_) {
    while (kept.first != nullptr) {
      void* const block = kept.first;
      std::memcpy(&kept.first, block, sizeof kept.first);
      std::free(block);
    }
  }
}

void* MemoryAccount::allocate(void* account, void* block, std::size_t old_bytes,
                              std::size_t new_bytes) {
  MemoryAccount& self = *static_cast<MemoryAccount*>(account);
  if (block == nullptr) old_bytes = 0;  // Lua passes the kind of object instead
  if (new_bytes == 0) {
    if (block != nullptr) self.give_back(block, old_bytes);
    self.used_ -= old_bytes;
    return nullptr;
  }
  const std::size_t others = self.used_ - old_bytes;
  const bool grows = new_bytes > old_bytes;
  if (grows && (others > self.limit_ || new_bytes > self.limit_ - others)) return nullptr;
  void* const moved =
      block == nullptr ? self.take(new_bytes) : self.resize(block, old_bytes, new_bytes);
  if (moved != nullptr) self.used_ = others + new_bytes;
  return moved;
}

void* MemoryAccount::take(std::size_t bytes) {
  if (!is_small(bytes)) return std::malloc(bytes);
  Kept& kept = kept_[class_of(bytes)];
  if (kept.first == nullptr) return std::malloc((class_of(bytes) + 1) * kClassBytes);
  void* const block = kept.first;
  std::memcpy(&kept.first, block, sizeof kept.first);
  --kept.count;
  return block;
}

void MemoryAccount::give_back(void* block, std::size_t bytes) {
  if (!is_small(bytes) || kept_[class_of(bytes)].count == kKeptOfClass) return std::free(block);
  Kept& kept = kept_[class_of(bytes)];
  std::memcpy(block, &kept.first, sizeof kept.first);
  kept.first = block;
  ++kept.count;
}

void* MemoryAccount::resize(void* block, std::size_t old_bytes, std::size_t new_bytes) {
  if (!is_small(old_bytes) && !is_small(new_bytes)) return std::realloc(block, new_bytes);
  if (is_small(old_bytes) && is_small(new_bytes) && class_of(old_bytes) == class_of(new_bytes)) {
    return block;
  }
  void* const moved = take(new_bytes);
  if (moved == nullptr) return new_bytes < old_bytes ? block : nullptr;  // shrinking cannot fail
  std::memcpy(moved, block, std::min(old_bytes, new_bytes));
  give_back(block, old_bytes);
  return moved;
}

}  // namespace redlock::lua
