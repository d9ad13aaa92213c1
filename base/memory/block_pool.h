// BlockPool: memory in blocks of 64 KB, whose pages go back to the system one block at a time.
//
// malloc gives memory back too, but in its own time: freed blocks gather until the one above them
// goes, and then all of them are unmapped at once, a hundred MB in milliseconds that nobody
// expects. Here every block costs the same few microseconds. The addresses stay the pool's.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <vector>

namespace redlock {

class BlockPool {
 public:
  static constexpr std::size_t kBlockBytes = 64 * 1024;

  BlockPool() = default;
  ~BlockPool();
  BlockPool(BlockPool&& other) noexcept { swap(other); }
  BlockPool& operator=(BlockPool&& other) noexcept {
    swap(other);
    return *this;
  }

  // Uninitialised, at the start of a page. nullptr: the system has no memory.
  char* take();
  // REQUIRES: a block that take() gave, and nobody uses.
  void give_back(char* block);

 private:
  // What is asked of the system at a time: its pages count only when they are written to.
  static constexpr std::size_t kRegionBytes = 16 * kBlockBytes;

  bool add_region();
  void swap(BlockPool& other) noexcept {
    regions_.swap(other.regions_);
    unused_.swap(other.unused_);
  }

  std::vector<char*> regions_;
  std::vector<char*> unused_;
};

}  // namespace redlock
