// LockIndex: from a key's hash to its record, by extendible hashing (Fagin, Nievergelt, Pippenger
// and Strong, 1979).
//
// A directory of 2^depth entries, chosen by the hash's top bits, leads to segments of slots. A
// segment that fills up grows by a quarter, and again; then it is split in two by one more bit, and
// only when that bit is beyond the directory's depth does the directory double. So the table grows
// some KB at a time, with no pause and no second copy, and without touching the records: a slot
// keeps 32 bits of the hash beside the reference. The steps between two splits keep about seven
// tenths of the slots in use: all segments of a table fill up at about the same time.
//
//     slot: | reference, 32 bits | hash, 32 bits |
//
// Segments follow each other in the order of the hashes, which is what scan() goes by. Inside a
// segment: linear probing from a place that a multiplication makes of the hash (Knuth, TAOCP 6.4),
// and deletion by shifting back, so there are no tombstones.
//
// Thread safety: none. Invariant: a directory entry's segment has depth <= the directory's, and the
// entry tells its slots as they are.
#pragma once

#include "base/memory/prefetch.h"
#include "server/locks/lock.h"

#include <array>
#include <cstdint>
#include <limits>
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
    const Entry& entry = entry_of(hash);
    for (std::uint32_t at = entry.home(hash); entry.slots[at].ref != 0; at = entry.next(at)) {
      if (entry.slots[at].hash == hash && is_it(entry.slots[at].ref)) return entry.slots[at].ref;
    }
    return 0;
  }

  // For a batch of finds (LockTable::expect): the slots of all are asked for first, then the
  // records that have these hashes; 0 if there is none. Two keys of one hash are rare.
  void prefetch_slots(std::uint32_t hash) const {
    const Entry& entry = entry_of(hash);
    prefetch(&entry.slots[entry.home(hash)]);
  }
  LockRef likely_record(std::uint32_t hash) const {
    return find(hash, [](LockRef) { return true; });
  }

  // REQUIRES: ref is not in it. False when the table can grow no further.
  bool insert(std::uint32_t hash, LockRef ref);
  // REQUIRES: ref is in it under this hash.
  void erase(std::uint32_t hash, LockRef ref);
  // The record moved.
  void replace(std::uint32_t hash, LockRef from, LockRef to);

  std::size_t size() const { return size_; }
  std::size_t bytes() const {
    return slots_ * sizeof(Slot) + segments_.size() * (sizeof(Segment) + sizeof(used_[0])) +
           directory_.size() * sizeof(Entry);
  }

  template <class Look>
  void for_each(Look look) const {
    for (const Segment& segment : segments_) {
      for_each_slot(segment, [&](const Slot& slot) { look(slot.ref); });
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
  static constexpr std::uint32_t kSlotsMin = 512;
  static constexpr std::uint32_t kSlotsStep = kSlotsMin / 4;
  static constexpr std::uint32_t kSlotsMax = kSlotsMin + 2 * kSlotsStep;
  static constexpr std::uint32_t kMergeAt = kSlotsMin / 4;  // of two neighbours together
  static constexpr unsigned kDepthMax = 22;  // leaves bits enough for the places in a segment
  static constexpr std::uint32_t full_at(std::uint32_t capacity) { return capacity / 10 * 8; }

  struct Slot {
    LockRef ref = 0;
    std::uint32_t hash = 0;
  };
  static_assert(sizeof(Slot) == kSlotBytes);

  struct Segment {
    std::unique_ptr<Slot[]> slots;  // nullptr: it is not in use
    std::uint32_t capacity = 0;
    unsigned depth = 0;
  };

  // What a search needs of a segment, so that it waits for memory once less.
  struct Entry {
    Slot* slots;
    std::uint32_t capacity;
    std::uint32_t segment;

    std::uint32_t home(std::uint32_t hash) const {
      constexpr std::uint32_t kGoldenRatio = 2'654'435'769;
      return static_cast<std::uint32_t>(std::uint64_t{hash * kGoldenRatio} * capacity >> 32);
    }
    std::uint32_t next(std::uint32_t at) const { return at + 1 < capacity ? at + 1 : 0; }
    // How far `at` is behind `from`, going on from the last slot with the first.
    std::uint32_t distance(std::uint32_t from, std::uint32_t at) const {
      return at >= from ? at - from : at + capacity - from;
    }
  };

  std::size_t directory_place(std::uint32_t hash) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(hash) >> (32 - depth_));
  }
  const Entry& entry_of(std::uint32_t hash) const { return directory_[directory_place(hash)]; }
  bool is_full(const Entry& entry) const { return used_[entry.segment] >= full_at(entry.capacity); }
  // Behind the last hash that falls into the segment of this one.
  static std::uint64_t end_of_range(const Segment& segment, std::uint64_t hash) {
    const std::uint64_t range = std::uint64_t{1} << (32 - segment.depth);
    return (hash / range + 1) * range;
  }
  // The least that so many do not fill.
  static std::uint32_t capacity_for(std::uint32_t used) {
    std::uint32_t capacity = kSlotsMin;
    while (capacity < kSlotsMax && used >= full_at(capacity)) capacity += kSlotsStep;
    return capacity;
  }
  template <class Look>
  static void for_each_slot(const Segment& segment, Look look) {
    for (std::uint32_t at = 0; at < segment.capacity; ++at) {
      if (segment.slots[at].ref != 0) look(segment.slots[at]);
    }
  }
  static std::uint32_t position(const Entry& entry, std::uint32_t hash, LockRef ref);
  std::uint32_t add_segment(unsigned depth, std::uint32_t capacity);
  void drop_segment(std::uint32_t index);
  Entry entry_for(std::uint32_t index) const;
  void put(const Entry& entry, Slot slot);
  void point_to(std::uint32_t hash, std::uint32_t index);
  bool grow(std::uint32_t hash);
  bool split(std::uint32_t hash);
  void double_directory();
  void merge(std::uint32_t hash);

  std::vector<Entry> directory_;
  unsigned depth_ = 0;
  std::vector<Segment> segments_;
  // How many slots of each segment are: apart, as that is all that an insertion and an erasure ask
  // of a segment, so a million locks keep it in the processor's first cache.
  std::vector<std::uint16_t> used_;
  static_assert(kSlotsMax <= std::numeric_limits<std::uint16_t>::max());
  std::vector<std::uint32_t> unused_segments_;
  std::size_t slots_ = 0;  // of all segments
  std::size_t size_ = 0;
};

}  // namespace redlock::server
