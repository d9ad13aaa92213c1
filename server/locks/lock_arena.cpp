#include "server/locks/lock_arena.h"

#include "base/invariant.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace redlock::server {

// 8, 9 … 128, then 136, 144 … 512, then four octaves in eight steps each: 576, 640 … 8192.
std::size_t LockArena::class_of(std::size_t bytes) {
  if (bytes <= kExactBytesMax) return std::max(bytes, kExactBytesMin);
  if (bytes <= kFineBytesMax) {
    return kExactBytesMax + (bytes - kExactBytesMax + kFineStep - 1) / kFineStep;
  }
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 10;  // of 513 … 1024: 0
  const std::size_t step = (kFineBytesMax << octave) / 8;
  const std::size_t above = bytes - (kFineBytesMax << octave);
  return kLastFine + octave * 8 + (above + step - 1) / step;
}

std::size_t LockArena::class_bytes(std::size_t index) {
  if (index <= kExactBytesMax) return index;
  if (index <= kLastFine) return kExactBytesMax + (index - kExactBytesMax) * kFineStep;
  const std::size_t octave = (index - kLastFine - 1) / 8;
  const std::size_t steps = (index - kLastFine - 1) % 8 + 1;
  return (kFineBytesMax << octave) + steps * ((kFineBytesMax << octave) / 8);
}

bool LockArena::same_room(std::size_t from, std::size_t to) {
  if (from > kClassBytesMax || to > kClassBytesMax) return from == to;
  return class_of(from) == class_of(to);
}

std::size_t LockArena::room(std::size_t bytes) {
  return bytes > kClassBytesMax ? bytes : class_bytes(class_of(bytes));
}

// References name a chunk by its number: numbers of dropped ones are used again.
std::uint32_t LockArena::new_chunk(std::size_t record_bytes) {
  if (unused_chunks_.empty() && chunks_.size() >= kChunksMax) return kNone;
  Chunk chunk;
  chunk.record_bytes = static_cast<std::uint32_t>(record_bytes);
  if (record_bytes <= kClassBytesMax) {
    chunk.bytes = blocks_.take();
  } else {
    chunk.own.reset(new (std::nothrow) char[record_bytes]);
    chunk.bytes = chunk.own.get();
  }
  if (chunk.bytes == nullptr) return kNone;
  if (unused_chunks_.empty()) {
    unused_chunks_.push_back(static_cast<std::uint32_t>(chunks_.size()));
    chunks_.emplace_back();
  }
  const std::uint32_t index = unused_chunks_.back();
  unused_chunks_.pop_back();
  chunks_[index] = std::move(chunk);
  bytes_ += chunks_[index].size();
  return index;
}

void LockArena::drop_chunk(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  bytes_ -= chunk.size();
  if (chunk.own == nullptr) blocks_.give_back(chunk.bytes);
  chunk = Chunk{};
  unused_chunks_.push_back(index);
  ++chunks_dropped_;
}

// In place of the one that has been empty for longest, if there are enough.
void LockArena::keep_empty(std::uint32_t index) {
  if (empty_ == kEmptyMax) {
    const std::uint32_t longest = kept_.front();
    use_empty(longest);
    unlink(class_of(chunks_[longest].record_bytes), longest);
    drop_chunk(longest);
  }
  kept_[empty_++] = index;
}

void LockArena::use_empty(std::uint32_t index) {
  const auto end = kept_.begin() + empty_;
  const auto found = std::find(kept_.begin(), end, index);
  INVARIANT(found != end, "an empty chunk that nobody kept");
  std::move(found + 1, end, found);
  --empty_;
}

void LockArena::link(std::size_t class_index, std::uint32_t chunk) {
  const std::uint32_t first = with_room_[class_index];
  chunks_[chunk].next = first;
  chunks_[chunk].previous = kNone;
  if (first != kNone) chunks_[first].previous = chunk;
  with_room_[class_index] = chunk;
}

void LockArena::unlink(std::size_t class_index, std::uint32_t chunk) {
  const Chunk& gone = chunks_[chunk];
  if (gone.previous != kNone) chunks_[gone.previous].next = gone.next;
  if (gone.next != kNone) chunks_[gone.next].previous = gone.previous;
  if (with_room_[class_index] == chunk) with_room_[class_index] = gone.next;
}

// What was given back last is in the cache still, and taken first. After that comes what was never
// used, so that memory of a chunk is touched only as far as its records reach.
LockRef LockArena::allocate(std::size_t bytes) {
  if (bytes > kClassBytesMax) {
    const std::uint32_t own = new_chunk(bytes);
    return own << kRecordBits;
  }
  const std::size_t class_index = class_of(bytes);
  std::uint32_t index = with_room_[class_index];
  if (index == kNone) {
    index = new_chunk(class_bytes(class_index));
    if (index == kNone) return 0;
    link(class_index, index);
  } else if (chunks_[index].used == 0) {
    use_empty(index);
  }
  Chunk& chunk = chunks_[index];
  LockRef ref = chunk.free_ref;
  if (ref != 0) {
    std::memcpy(&chunk.free_ref, chunk.record(ref), sizeof chunk.free_ref);
  } else {
    ref = (index << kRecordBits) | chunk.fresh++;
  }
  ++chunk.used;
  if (chunk.is_full()) unlink(class_index, index);
  return ref;
}

void LockArena::free(LockRef ref, std::size_t bytes) {
  const std::uint32_t index = chunk_of(ref);
  if (bytes > kClassBytesMax) return drop_chunk(index);
  const std::size_t class_index = class_of(bytes);
  Chunk& chunk = chunks_[index];
  INVARIANT(chunk.used > 0, "a record is given back to an empty chunk");
  const bool was_full = chunk.is_full();
  std::memcpy(chunk.record(ref), &chunk.free_ref, sizeof chunk.free_ref);
  chunk.free_ref = ref;
  --chunk.used;
  if (was_full) link(class_index, index);
  if (chunk.used > 0) return;
  // The last one with room stays.
  const bool is_only_one = with_room_[class_index] == index && chunk.next == kNone;
  if (is_only_one) return keep_empty(index);
  unlink(class_index, index);
  drop_chunk(index);
}

}  // namespace redlock::server
