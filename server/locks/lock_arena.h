// LockArena: memory for records of all sizes, addressed by 32-bit references.
//
// Records of one size class share chunks of 64 KB; a free record links to the next one in its
// chunk. Classes step by 8 bytes where locks are (to 512), then by an eighth of a power of two; a
// record too large for any class gets a chunk of its own. A chunk whose last record was given back
// goes back to the system at once (BlockPool), but one per class is kept, so that taking and
// releasing one lock over and over costs no allocation.
//
//     LockRef:  | chunk: 18 bits | unit of 8 bytes in it: 13 bits |      31 bits: 16 GB of locks
//
// The top bit stays clear: the wheel uses it to mark a list.
//
// Thread safety: none. Invariant: every chunk but those full or freed is in its class's list.
#pragma once

#include "base/block_pool.h"
#include "base/prefetch.h"
#include "server/locks/lock.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace redlock::server {

class LockArena {
 public:
  // Room for `bytes`, uninitialised; 0 when there is no memory or no reference left.
  LockRef allocate(std::size_t bytes);
  // `bytes` as given to allocate().
  void free(LockRef ref, std::size_t bytes);
  // Whether a record of `from` bytes can hold `to` bytes without being moved.
  static bool same_room(std::size_t from, std::size_t to);
  // What a record of so many bytes takes.
  static std::size_t room(std::size_t bytes);

  Lock& at(LockRef ref) {
    return *reinterpret_cast<Lock*>(chunks_[ref >> kUnitBits].bytes + byte_offset(ref));
  }
  const Lock& at(LockRef ref) const {
    return *reinterpret_cast<const Lock*>(chunks_[ref >> kUnitBits].bytes + byte_offset(ref));
  }

  // The head, and what of the key and the value stands in the line behind it.
  void prefetch_record(LockRef ref) const {
    const Lock* lock = &at(ref);
    prefetch(lock);
    prefetch(reinterpret_cast<const char*>(lock) + kCacheLineBytes);
  }
  // The end of the value, which often lies in a third line. Reads the head, which tells where.
  void prefetch_end(LockRef ref) const {
    const Lock& lock = at(ref);
    prefetch(reinterpret_cast<const char*>(&lock) + lock.bytes() - 1);
  }

  // Of all chunks.
  std::size_t bytes() const { return bytes_; }
  // Chunks that went back to the system, ever: each takes some microseconds.
  std::size_t chunks_dropped() const { return chunks_dropped_; }

 private:
  static constexpr std::size_t kUnit = 8;
  static constexpr unsigned kUnitBits = 13;
  static constexpr std::size_t kChunkBytes = kUnit << kUnitBits;
  static_assert(kChunkBytes == BlockPool::kBlockBytes);
  static constexpr std::uint32_t kChunksMax = 1u << 18;
  static constexpr std::size_t kFineBytesMax = 512;
  static constexpr std::size_t kClassBytesMax = 8 * 1024;
  static constexpr std::size_t kClasses = kFineBytesMax / kUnit + 4 * 8 + 1;
  static constexpr std::uint32_t kNone = 0;  // chunk 0 is never used, so that reference 0 is none

  struct Chunk {
    char* bytes = nullptr;
    std::size_t size = 0;
    std::unique_ptr<char[]> own;   // of a record too large for a block of the pool
    std::uint32_t used = 0;        // records in use
    std::uint32_t fresh_unit = 0;  // from here on nothing was ever handed out
    std::uint32_t free_ref = 0;    // the first of the given back
    std::uint32_t next = kNone;    // in the class's list of chunks with room
    std::uint32_t previous = kNone;
  };

  static std::size_t byte_offset(LockRef ref) { return (ref & ((1u << kUnitBits) - 1)) * kUnit; }
  static std::size_t class_of(std::size_t bytes);
  static std::size_t class_bytes(std::size_t index);

  std::uint32_t new_chunk(std::size_t bytes);
  void drop_chunk(std::uint32_t index);
  void link(std::size_t class_index, std::uint32_t chunk);
  void unlink(std::size_t class_index, std::uint32_t chunk);
  bool is_full(const Chunk& chunk, std::size_t record_bytes) const;

  BlockPool blocks_;
  std::vector<Chunk> chunks_ = std::vector<Chunk>(1);
  std::vector<std::uint32_t> unused_chunks_;
  std::array<std::uint32_t, kClasses> with_room_{};
  std::size_t bytes_ = 0;
  std::size_t chunks_dropped_ = 0;
};

}  // namespace redlock::server
