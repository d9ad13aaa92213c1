#include "lua/memory_account.h"

#include <cstdlib>

namespace redlock::lua {

void* MemoryAccount::allocate(void* account, void* block, std::size_t old_bytes,
                              std::size_t new_bytes) {
  MemoryAccount& self = *static_cast<MemoryAccount*>(account);
  if (block == nullptr) old_bytes = 0;  // Lua passes the kind of object instead
  if (new_bytes == 0) {
    std::free(block);
    self.used_ -= old_bytes;
    return nullptr;
  }
  const std::size_t others = self.used_ - old_bytes;
  const bool grows = new_bytes > old_bytes;
  if (grows && (others > self.limit_ || new_bytes > self.limit_ - others)) return nullptr;
  void* const moved = std::realloc(block, new_bytes);
  if (moved != nullptr) self.used_ = others + new_bytes;
  return moved;
}

}  // namespace redlock::lua
