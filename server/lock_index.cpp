#include "server/lock_index.h"

#include "base/invariant.h"

#include <algorithm>

namespace redlock::server {

LockIndex::LockIndex() {
  directory_.push_back(std::make_shared<Segment>());
}

void LockIndex::clear() {
  *this = LockIndex();
}

void LockIndex::place(Segment& segment, Slot slot) {
  std::uint32_t at = slot.hash & kMask;
  while (segment.slots[at].ref != 0) at = (at + 1) & kMask;
  segment.slots[at] = slot;
  ++segment.used;
}

std::uint32_t LockIndex::position(const Segment& segment, std::uint32_t hash, LockRef ref) {
  std::uint32_t at = hash & kMask;
  while (segment.slots[at].ref != ref) {
    INVARIANT(segment.slots[at].ref != 0, "a record that is not in the index");
    at = (at + 1) & kMask;
  }
  return at;
}

bool LockIndex::insert(std::uint32_t hash, LockRef ref) {
  Segment* segment = directory_[directory_place(hash)].get();
  // A split may leave all on one side: then once more. At the greatest depth the segment just
  // fills.
  while (segment->used >= kSplitAt && split(hash))
    segment = directory_[directory_place(hash)].get();
  if (segment->used >= kSlots - 1)
    return false;  // an empty slot must stay, or a search would not end
  place(*segment, {ref, hash});
  ++size_;
  return true;
}

void LockIndex::erase(std::uint32_t hash, LockRef ref) {
  Segment& segment = *directory_[directory_place(hash)];
  std::uint32_t hole = position(segment, hash, ref);
  // Shift back what the hole would cut off from its place.
  for (std::uint32_t at = (hole + 1) & kMask; segment.slots[at].ref != 0; at = (at + 1) & kMask) {
    const std::uint32_t home = segment.slots[at].hash & kMask;
    if (((at - home) & kMask) < ((at - hole) & kMask)) continue;
    segment.slots[hole] = segment.slots[at];
    hole = at;
  }
  segment.slots[hole] = {};
  --segment.used;
  --size_;
  merge(hash);
}

void LockIndex::replace(std::uint32_t hash, LockRef from, LockRef to) {
  Segment& segment = *directory_[directory_place(hash)];
  segment.slots[position(segment, hash, from)].ref = to;
}

// All directory entries whose top `depth` bits are those of the hash.
void LockIndex::point_to(std::uint32_t hash, unsigned depth,
                         const std::shared_ptr<Segment>& segment) {
  const std::size_t count = std::size_t{1} << (depth_ - depth);
  const std::size_t first = directory_place(hash) & ~(count - 1);
  for (std::size_t i = 0; i < count; ++i) directory_[first + i] = segment;
}

bool LockIndex::split(std::uint32_t hash) {
  const std::shared_ptr<Segment> full = directory_[directory_place(hash)];
  if (full->depth == kDepthMax) return false;
  if (full->depth == depth_) {
    std::vector<std::shared_ptr<Segment>> doubled;
    doubled.reserve(directory_.size() * 2);
    for (const auto& segment : directory_) doubled.insert(doubled.end(), 2, segment);
    directory_ = std::move(doubled);
    ++depth_;
  }
  const unsigned depth = full->depth + 1;
  const std::uint32_t bit = 1u << (32 - depth);
  const auto low = std::make_shared<Segment>();
  const auto high = std::make_shared<Segment>();
  low->depth = high->depth = depth;
  for (const Slot& slot : full->slots) {
    if (slot.ref != 0) place((slot.hash & bit) != 0 ? *high : *low, slot);
  }
  point_to(hash & ~bit, depth, low);
  point_to(hash | bit, depth, high);
  ++segments_;
  return true;
}

// Joins a nearly empty segment with its neighbour, so that memory comes back after a flood of
// locks.
void LockIndex::merge(std::uint32_t hash) {
  if (is_too_full_to_merge(*directory_[directory_place(hash)])) return;
  const std::shared_ptr<Segment> segment = directory_[directory_place(hash)];
  const std::uint32_t bit = 1u << (32 - segment->depth);
  const std::shared_ptr<Segment> buddy = directory_[directory_place(hash ^ bit)];
  if (buddy->depth != segment->depth || buddy->used + segment->used > kMergeAt) return;
  for (const Slot& slot : buddy->slots) {
    if (slot.ref != 0) place(*segment, slot);
  }
  --segment->depth;
  point_to(hash, segment->depth, segment);
  --segments_;
}

// A segment at a time: its slots from `from` on, and of these the smallest hashes.
std::uint32_t LockIndex::scan(std::uint32_t from, std::size_t count,
                              std::vector<LockRef>& found) const {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;
  const auto is_before = [](const Slot& a, const Slot& b) { return a.hash < b.hash; };
  std::vector<Slot> slots;
  std::uint64_t at = from;
  for (std::size_t wanted = count; wanted > 0 && at < kEnd;) {
    const Segment& segment = *directory_[directory_place(static_cast<std::uint32_t>(at))];
    slots.clear();
    for (const Slot& slot : segment.slots) {
      if (slot.ref != 0 && slot.hash >= at) slots.push_back(slot);
    }
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
