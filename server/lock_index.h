// LockIndex: from a key's hash to its record, by extendible hashing (Fagin, Nievergelt, Pippenger
// and Strong, 1979).
//
// A directory of 2^depth pointers, chosen by the hash's top bits, leads to segments of 512 slots. A
// segment that fills up is split in two by one more bit; only when that bit is beyond the
// directory's depth does the directory double. So the table grows 4 KB at a time, with no pause and
// no second copy, and without touching the records: a slot keeps 32 bits of the hash beside the
// reference.
//
//     slot: | reference, 32 bits | hash, 32 bits |      hash: | directory …  …| place in segment: 9
//     |
//
// Segments follow each other in the order of the hashes, which is what scan() goes by.
//
// Inside a segment: linear probing, and deletion by shifting back, so there are no tombstones.
//
// Thread safety: none. Invariant: a directory entry's segment has depth <= the directory's.
#pragma once

#include "base/prefetch.h"
#include "server/lock.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace redlock::server {

class LockIndex {
 public:
  static constexpr std::size_t kSlotBytes = 8;

  LockIndex();

  // The record with this hash that `is_it(ref)` says is the one; 0 if there is none.
  template <class IsIt>
  LockRef find(std::uint32_t hash, IsIt is_it) const {
    const Segment& segment = *directory_[directory_place(hash)];
    for (std::uint32_t at = hash & kMask; segment.slots[at].ref != 0; at = (at + 1) & kMask) {
      if (segment.slots[at].hash == hash && is_it(segment.slots[at].ref))
        return segment.slots[at].ref;
    }
    return 0;
  }

  // For a batch of finds (LockTable::expect): the slots of all are asked for first, then the
  // records that have these hashes; 0 if there is none. Two keys of one hash are rare.
  void prefetch_slots(std::uint32_t hash) const {
    prefetch(&directory_[directory_place(hash)]->slots[hash & kMask]);
  }
  LockRef likely_record(std::uint32_t hash) const {
    const Segment& segment = *directory_[directory_place(hash)];
    for (std::uint32_t at = hash & kMask; segment.slots[at].ref != 0; at = (at + 1) & kMask) {
      if (segment.slots[at].hash == hash) return segment.slots[at].ref;
    }
    return 0;
  }

  // REQUIRES: ref is not in it. False when the table can grow no further.
  bool insert(std::uint32_t hash, LockRef ref);
  // REQUIRES: ref is in it under this hash.
  void erase(std::uint32_t hash, LockRef ref);
  // The record moved.
  void replace(std::uint32_t hash, LockRef from, LockRef to);

  std::size_t size() const { return size_; }
  std::size_t bytes() const {
    return segments_ * sizeof(Segment) + directory_.size() * sizeof(std::shared_ptr<Segment>);
  }

  template <class Look>
  void for_each(Look look) const {
    const Segment* last = nullptr;
    for (const auto& segment : directory_) {
      if (segment.get() == last) continue;
      last = segment.get();
      for (const Slot& slot : segment->slots) {
        if (slot.ref != 0) look(slot.ref);
      }
    }
  }

  void clear();

  // A walk through all records in the order of their hashes, a part a call, while the index changes
  // between the calls: a hash never moves, whatever is split or merged, so what stays in the index
  // is met just once. `from` is 0 at first, then what the call before has answered; 0: that was
  // all. Adds about `count` records to `found`: never some of one hash without the others.
  // REQUIRES: count > 0.
  std::uint32_t scan(std::uint32_t from, std::size_t count, std::vector<LockRef>& found) const;

 private:
  static constexpr std::uint32_t kSlots = 512;
  static constexpr std::uint32_t kMask = kSlots - 1;
  static constexpr std::uint32_t kSplitAt = kSlots * 9 / 10;
  static constexpr std::uint32_t kMergeAt = kSlots / 4;  // of two neighbours together
  static constexpr unsigned kDepthMax = 22;              // the hash bits that the place leaves over

  struct Slot {
    LockRef ref;
    std::uint32_t hash;
  };
  static_assert(sizeof(Slot) == kSlotBytes);
  struct Segment {
    std::array<Slot, kSlots> slots{};
    std::uint32_t used = 0;
    unsigned depth = 0;
  };

  std::size_t directory_place(std::uint32_t hash) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(hash) >> (32 - depth_));
  }
  // Behind the last hash that falls into the segment of this one.
  static std::uint64_t end_of_range(const Segment& segment, std::uint64_t hash) {
    const std::uint64_t range = std::uint64_t{1} << (32 - segment.depth);
    return (hash / range + 1) * range;
  }
  static bool is_too_full_to_merge(const Segment& segment) {
    return segment.depth == 0 || segment.used > kMergeAt;
  }
  static void place(Segment& segment, Slot slot);
  static std::uint32_t position(const Segment& segment, std::uint32_t hash, LockRef ref);
  bool split(std::uint32_t hash);
  void merge(std::uint32_t hash);
  void point_to(std::uint32_t hash, unsigned depth, const std::shared_ptr<Segment>& segment);

  std::vector<std::shared_ptr<Segment>> directory_;
  unsigned depth_ = 0;
  std::size_t size_ = 0;
  std::size_t segments_ = 1;
};

}  // namespace redlock::server
