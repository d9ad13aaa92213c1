// The memory of one Lua state: an allocator that counts, and that refuses what goes beyond a limit.
//
// A refusal makes Lua collect garbage and ask again; refused again, it raises "not enough memory"
// in the running script. The engine's own steps between scripts run with no limit, as nothing
// protects them against such an error, and they use little.
//
// Every script takes and leaves a handful of small blocks (its KEYS and ARGV, their strings), and
// the collector gives back those of many scripts at once, more than malloc keeps at hand. So small
// blocks are kept here for the next scripts: a bounded number, which is no script's memory and not
// counted as used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace redlock::lua {

class MemoryAccount {
 public:
  MemoryAccount() = default;
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // A lua_Alloc; `account` is the MemoryAccount.
  static void* allocate(void* account, void* block, std::size_t old_bytes, std::size_t new_bytes);

  std::size_t used() const { return used_; }

  void set_limit(std::size_t bytes) { limit_ = bytes; }
  void lift_limit() { limit_ = std::numeric_limits<std::size_t>::max(); }

 private:
  static constexpr std::size_t kClassBytes = 16;  // malloc's own grain
  static constexpr std::size_t kSmallBytesMax = 128;
  static constexpr std::uint32_t kKeptOfClass = 512;  // all classes full: 288 KB

  // Blocks of one size that are not in use; each holds the address of the next.
  struct Kept {
    void* first = nullptr;
    std::uint32_t count = 0;
  };

  static bool is_small(std::size_t bytes) { return bytes <= kSmallBytesMax; }
  static std::size_t class_of(std::size_t bytes) { return (bytes - 1) / kClassBytes; }

  void* take(std::size_t bytes);
  void give_back(void* block, std::size_t bytes);
  void* resize(void* block, std::size_t old_bytes, std::size_t new_bytes);

  std::size_t used_ = 0;
  std::size_t limit_ = std::numeric_limits<std::size_t>::max();
  std::array<Kept, kSmallBytesMax / kClassBytes> kept_{};
};

}  // namespace redlock::lua
