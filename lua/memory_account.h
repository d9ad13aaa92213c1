// The memory of one Lua state: a malloc that counts, and that refuses what goes beyond a limit.
//
// A refusal makes Lua collect garbage and ask again; refused again, it raises "not enough memory"
// in the running script. The engine's own steps between scripts run with no limit, as nothing
// protects them against such an error, and they use little.
#pragma once

#include <cstddef>
#include <limits>

namespace redlock::lua {

class MemoryAccount {
 public:
  // A lua_Alloc; `account` is the MemoryAccount.
  static void* allocate(void* account, void* block, std::size_t old_bytes, std::size_t new_bytes);

  std::size_t used() const { return used_; }

  void set_limit(std::size_t bytes) { limit_ = bytes; }
  void lift_limit() { limit_ = std::numeric_limits<std::size_t>::max(); }

 private:
  std::size_t used_ = 0;
  std::size_t limit_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace redlock::lua
