// LockArena: memory for records of all sizes, addressed by 32-bit references.
//
// Records of one size class share chunks of 64 KB; a free record links to the next one in its
// chunk. Where most locks are (to 128 bytes) each size is a class, so that a record takes what it
// needs and no more; then classes step by 8 bytes to 512, and by an eighth of a power of two; a
// record too large for any class gets a chunk of its own. A chunk whose last record was given back
// goes back to the system at once (BlockPool), but the last ones of a few classes are kept, those
// that were in use last: so taking and releasing locks over and over costs no allocation, whichever
// sizes came before.
//
//     LockRef:  | chunk: 18 bits | record in it: 13 bits |      31 bits: 16 GB of locks
//
// The top bit stays clear: the wheel uses it to mark a list.
//
// Thread safety: none. Invariant: every chunk but those full or freed is in its class's list.
#pragma once

#include "base/memory/block_pool.h"
#include "base/memory/prefetch.h"
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

  Lock& at(LockRef ref) { return *reinterpret_cast<Lock*>(chunks_[chunk_of(ref)].record(ref)); }
  const Lock& at(LockRef ref) const {
    return *reinterpret_cast<const Lock*>(chunks_[chunk_of(ref)].record(ref));
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
  static constexpr std::size_t kChunkBytes = BlockPool::kBlockBytes;
  static constexpr unsigned kRecordBits = 13;
  static constexpr std::uint32_t kChunksMax = 1u << 18;
  static constexpr std::size_t kExactBytesMin = 8;  // smaller ones are as large
  static_assert(kChunkBytes / kExactBytesMin <= std::size_t{1} << kRecordBits);
  static constexpr std::size_t kExactBytesMax = 128;
  static constexpr std::size_t kFineStep = 8;
  static constexpr std::size_t kFineBytesMax = 512;
  static constexpr std::size_t kClassBytesMax = 8 * 1024;
  static constexpr std::size_t kLastFine =
      kExactBytesMax + (kFineBytesMax - kExactBytesMax) / kFineStep;
  static constexpr std::size_t kClasses = kLastFine + 4 * 8 + 1;
  static constexpr std::uint32_t kNone = 0;  // chunk 0 is never used, so that reference 0 is none
  static constexpr std::uint32_t kEmptyMax = 2;

  struct Chunk {
    char* bytes = nullptr;
    std::uint32_t record_bytes = 0;  // of each
    std::uint32_t used = 0;          // records in use
    std::uint32_t fresh = 0;         // from this record on nothing was ever handed out
    std::uint32_t free_ref = 0;      // the first of the given back
    std::uint32_t next = kNone;      // in the class's list of chunks with room
    std::uint32_t previous = kNone;
    std::unique_ptr<char[]> own;  // of a record too large for a block of the pool

    char* record(LockRef ref) const {
      return bytes + std::size_t{ref & ((1u << kRecordBits) - 1)} * record_bytes;
    }
    std::size_t size() const { return own == nullptr ? kChunkBytes : record_bytes; }
    bool is_full() const { return free_ref == 0 && (fresh + 1) * record_bytes > kChunkBytes; }
  };

  static std::uint32_t chunk_of(LockRef ref) { return ref >> kRecordBits; }
  static std::size_t class_of(std::size_t bytes);
  static std::size_t class_bytes(std::size_t index);

  std::uint32_t new_chunk(std::size_t record_bytes);
  void drop_chunk(std::uint32_t index);
  void keep_empty(std::uint32_t index);
  void use_empty(std::uint32_t index);
  void link(std::size_t class_index, std::uint32_t chunk);
  void unlink(std::size_t class_index, std::uint32_t chunk);

  BlockPool blocks_;
  std::vector<Chunk> chunks_ = std::vector<Chunk>(1);
  std::vector<std::uint32_t> unused_chunks_;
  std::array<std::uint32_t, kClasses> with_room_{};
  // Chunks that are kept without a record: so many, the one first that is so for longest.
  std::uint32_t empty_ = 0;
  std::array<std::uint32_t, kEmptyMax> kept_{};
  std::size_t bytes_ = 0;
  std::size_t chunks_dropped_ = 0;
};

}  // namespace redlock::server
