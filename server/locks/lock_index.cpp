#include "server/locks/lock_index.h"

#include "base/invariant.h"

#include <algorithm>
#include <utility>

namespace redlock::server {

LockIndex::LockIndex() {
  directory_.push_back(entry_for(add_segment(0, kSlotsMin)));
}

void LockIndex::clear() {
  *this = LockIndex();
}

std::uint32_t LockIndex::position(const Entry& entry, std::uint32_t hash, LockRef ref) {
  std::uint32_t at = entry.home(hash);
  while (entry.slots[at].ref != ref) {
    INVARIANT(entry.slots[at].ref != 0, "a record that is not in the index");
    at = entry.next(at);
  }
  return at;
}

bool LockIndex::insert(std::uint32_t hash, LockRef ref) {
  // A split may leave all on one side: then once more.
  // At the greatest depth the segment just fills.
  while (is_full(entry_of(hash)) && (grow(hash) || split(hash))) {
  }
  const Entry& entry = entry_of(hash);
  // An empty slot must stay, or a search would not end.
  if (used_[entry.segment] + 1U >= entry.capacity) return false;
  put(entry, {ref, hash});
  ++size_;
  return true;
}

void LockIndex::erase(std::uint32_t hash, LockRef ref) {
  const Entry& entry = entry_of(hash);
  std::uint32_t hole = position(entry, hash, ref);
  // Algorithm R of Knuth (TAOCP 6.4). A search begins at a record's home and ends at the first
  // empty slot, so the hole would hide each record behind it whose home is not behind it, too. The
  // first of these moves into the hole, and leaves the next hole where it stood.
  std::uint32_t behind_hole = 1;
  for (std::uint32_t at = entry.next(hole); entry.slots[at].ref != 0; at = entry.next(at)) {
    const std::uint32_t behind_home = entry.distance(entry.home(entry.slots[at].hash), at);
    if (behind_home >= behind_hole) {
      entry.slots[hole] = entry.slots[at];
      hole = at;
      behind_hole = 0;
    }
    ++behind_hole;
  }
  entry.slots[hole] = {};
  --size_;
  if (--used_[entry.segment] <= kMergeAt) merge(hash);
}

void LockIndex::replace(std::uint32_t hash, LockRef from, LockRef to) {
  const Entry& entry = entry_of(hash);
  entry.slots[position(entry, hash, from)].ref = to;
}

// Directory and free list know a segment by its number: numbers of dropped ones are used again.
std::uint32_t LockIndex::add_segment(unsigned depth, std::uint32_t capacity) {
  Segment segment{std::make_unique<Slot[]>(capacity), capacity, depth};
  if (unused_segments_.empty()) {
    unused_segments_.push_back(static_cast<std::uint32_t>(segments_.size()));
    segments_.emplace_back();
    used_.push_back(0);
  }
  const std::uint32_t index = unused_segments_.back();
  unused_segments_.pop_back();
  segments_[index] = std::move(segment);
  slots_ += capacity;
  return index;
}

void LockIndex::drop_segment(std::uint32_t index) {
  slots_ -= segments_[index].capacity;
  segments_[index] = {};
  used_[index] = 0;
  unused_segments_.push_back(index);
}

LockIndex::Entry LockIndex::entry_for(std::uint32_t index) const {
  return {segments_[index].slots.get(), segments_[index].capacity, index};
}

void LockIndex::put(const Entry& entry, Slot slot) {
  std::uint32_t at = entry.home(slot.hash);
  while (entry.slots[at].ref != 0) at = entry.next(at);
  entry.slots[at] = slot;
  ++used_[entry.segment];
}

// All directory entries whose top bits, as many as the segment's depth, are those of the hash.
void LockIndex::point_to(std::uint32_t hash, std::uint32_t index) {
  const std::size_t count = std::size_t{1} << (depth_ - segments_[index].depth);
  const std::size_t first = directory_place(hash) & ~(count - 1);
  std::fill_n(directory_.begin() + static_cast<std::ptrdiff_t>(first), count, entry_for(index));
}

// False: it has its greatest size.
bool LockIndex::grow(std::uint32_t hash) {
  const std::uint32_t small = entry_of(hash).segment;
  if (segments_[small].capacity == kSlotsMax) return false;
  const std::uint32_t large =
      add_segment(segments_[small].depth, segments_[small].capacity + kSlotsStep);
  const Entry entry = entry_for(large);
  for_each_slot(segments_[small], [&](Slot slot) { put(entry, slot); });
  point_to(hash, large);
  drop_segment(small);
  return true;
}

// A segment of depth d has the hashes of one prefix of d bits; bit d + 1 tells its halves apart.
// They are counted before they are made, as one bit need not share evenly. False: it has its
// greatest depth.
bool LockIndex::split(std::uint32_t hash) {
  const std::uint32_t full = entry_of(hash).segment;
  if (segments_[full].depth == kDepthMax) return false;
  if (segments_[full].depth == depth_) double_directory();
  const unsigned depth = segments_[full].depth + 1;
  const std::uint32_t bit = 1u << (32 - depth);
  std::uint32_t highs = 0;
  for_each_slot(segments_[full], [&](Slot slot) { highs += (slot.hash & bit) != 0 ? 1 : 0; });
  const std::uint32_t low = add_segment(depth, capacity_for(used_[full] - highs));
  const std::uint32_t high = add_segment(depth, capacity_for(highs));
  const Entry entry_of_low = entry_for(low);
  const Entry entry_of_high = entry_for(high);
  for_each_slot(segments_[full], [&](Slot slot) {
    put((slot.hash & bit) != 0 ? entry_of_high : entry_of_low, slot);
  });
  point_to(hash & ~bit, low);
  point_to(hash | bit, high);
  drop_segment(full);
  return true;
}

// One bit more of the hash chooses an entry: each entry becomes two that lead to the same segment.
void LockIndex::double_directory() {
  std::vector<Entry> doubled;
  doubled.reserve(directory_.size() * 2);
  for (const Entry& entry : directory_) doubled.insert(doubled.end(), 2, entry);
  directory_ = std::move(doubled);
  ++depth_;
}

// Joins a nearly empty segment with its neighbour, so that memory comes back after a
// flood of locks.
void LockIndex::merge(std::uint32_t hash) {
  const std::uint32_t index = entry_of(hash).segment;
  const Segment& segment = segments_[index];
  if (segment.depth == 0) return;
  const unsigned depth = segment.depth;
  const std::uint32_t buddy = entry_of(hash ^ (1u << (32 - depth))).segment;
  if (segments_[buddy].depth != depth || used_[buddy] + used_[index] > kMergeAt) return;
  const std::uint32_t joined = add_segment(depth - 1, kSlotsMin);
  const Entry entry = entry_for(joined);
  for (const std::uint32_t part : {index, buddy}) {
    for_each_slot(segments_[part], [&](Slot slot) { put(entry, slot); });
  }
  point_to(hash, joined);
  drop_segment(index);
  drop_segment(buddy);
}

// A segment at a time: its slots from `from` on, and of these the smallest hashes.
std::uint32_t LockIndex::scan(std::uint32_t from, std::size_t count,
                              std::vector<LockRef>& found) const {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;
  const auto is_before = [](const Slot& a, const Slot& b) { return a.hash < b.hash; };
  std::vector<Slot> slots;
  std::uint64_t at = from;
  for (std::size_t wanted = count; wanted > 0 && at < kEnd;) {
    const Segment& segment = segments_[entry_of(static_cast<std::uint32_t>(at)).segment];
    slots.clear();
    for_each_slot(segment, [&](Slot slot) {
      if (slot.hash >= at) slots.push_back(slot);
    });
    at = end_of_range(segment, at);
    if (slots.size() > wanted) {
      const auto last = slots.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
      std::nth_element(slots.begin(), last, slots.end(), is_before);
      at = std::uint64_t{last->hash} + 1;
    }
    for (const Slot& slot : slots) {
      if (slot.hash < at) found.push_back(slot.ref);
    }
    wanted -= std::min(wanted, slots.size());
  }
  return at < kEnd ? static_cast<std::uint32_t>(at) : 0;
}

}  // namespace redlock::server
