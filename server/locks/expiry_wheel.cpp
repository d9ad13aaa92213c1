#include "server/locks/expiry_wheel.h"

#include "base/invariant.h"

#include <algorithm>
#include <bit>

namespace redlock::server {

ExpiryWheel::Tick ExpiryWheel::tick_of(Instant when) {
  const auto ns = std::max<std::int64_t>(when.time_since_epoch().count(), 0);
  return static_cast<Tick>(ns) >> kTickBits;
}

Instant ExpiryWheel::tick_start(Tick tick) {
  constexpr Tick kLast = static_cast<Tick>(std::numeric_limits<std::int64_t>::max()) >> kTickBits;
  if (tick > kLast) return kNever;
  return Instant(Duration(static_cast<std::int64_t>(tick << kTickBits)));
}

// Above the level the two ticks are alike: time passes this bucket before the level has come round,
// so a bucket never holds records of two rounds. Overdue records join the current tick.
std::uint32_t ExpiryWheel::bucket_of(Tick tick) const {
  tick = std::max(tick, current_);
  const Tick differing = tick ^ current_;
  const unsigned level =
      differing == 0 ? 0 : (static_cast<unsigned>(std::bit_width(differing)) - 1) / kSlotBits;
  const auto slot = static_cast<std::uint32_t>(tick >> (level * kSlotBits)) & (kSlots - 1);
  return level * kSlots + slot;
}

void ExpiryWheel::link(LockRef ref, Instant now) {
  const Lock& lock = arena_.at(ref);
  INVARIANT(lock.has_deadline(), "a lock without a deadline on the wheel");
  // An empty wheel may have stood still for long: start from now, not from then.
  if (size_ == 0) current_ = std::max(current_, tick_of(now));
  ++size_;
  link_at(bucket_of(tick_of(lock.deadline())), ref);
}

void ExpiryWheel::link_at(std::uint32_t bucket, LockRef ref) {
  const std::uint32_t list = bucket * kLists + links_++ / kRun % kLists;
  Lock& lock = arena_.at(ref);
  lock.set_wheel_previous(kListMark | list);
  lock.set_wheel_next(first_[list]);
  if (first_[list] != 0) arena_.at(first_[list]).set_wheel_previous(ref);
  first_[list] = ref;
  occupied_[bucket / kSlots] |= std::uint64_t{1} << (bucket % kSlots);
}

void ExpiryWheel::unlink(LockRef ref) {
  --size_;
  const Lock& lock = arena_.at(ref);
  const LockRef next = lock.wheel_next();
  const LockRef previous = lock.wheel_previous();
  if (next != 0) arena_.at(next).set_wheel_previous(previous);
  if ((previous & kListMark) == 0) {
    arena_.at(previous).set_wheel_next(next);
    return;
  }
  const std::uint32_t list = previous & ~kListMark;
  first_[list] = next;
  const std::uint32_t bucket = list / kLists;
  if (next == 0 && is_empty(bucket)) {
    occupied_[bucket / kSlots] &= ~(std::uint64_t{1} << (bucket % kSlots));
  }
}

void ExpiryWheel::clear() {
  occupied_ = {};
  first_ = {};
  cascading_ = 0;
  size_ = 0;
}

bool ExpiryWheel::is_empty(std::uint32_t bucket) const {
  const LockRef* const lists = &first_[bucket * kLists];
  return std::all_of(lists, lists + kLists, [](LockRef first) { return first == 0; });
}

LockRef ExpiryWheel::pop_one(std::uint32_t bucket) {
  const LockRef* const lists = &first_[bucket * kLists];
  do {
    popped_from_ = (popped_from_ + 1) % kLists;
  } while (lists[popped_from_] == 0);
  const LockRef ref = lists[popped_from_];
  unlink(ref);
  if (lists[popped_from_] != 0) arena_.prefetch_record(lists[popped_from_]);
  return ref;
}

// Buckets before current_'s own are empty at every level, so the lowest set bit is the next one. At
// level 0 that is current_'s own bucket or a later one; above it always a later one, as what
// differs from current_ only further down stands further down.
std::optional<ExpiryWheel::Tick> ExpiryWheel::next_tick(unsigned level) const {
  if (occupied_[level] == 0) return std::nullopt;
  const auto slot = static_cast<Tick>(std::countr_zero(occupied_[level]));
  const unsigned shift = level * kSlotBits;
  const unsigned above = shift + kSlotBits;
  const Tick upper = above < 64 ? (current_ >> above) << above : 0;
  return upper | (slot << shift);
}

// Moves what stands in the bucket that has begun to the levels below.
void ExpiryWheel::cascade(std::size_t& budget) {
  while (!is_empty(cascading_) && budget > 0) {
    --budget;
    const LockRef ref = pop_one(cascading_);
    ++size_;
    link_at(bucket_of(tick_of(arena_.at(ref).deadline())), ref);
  }
  if (is_empty(cascading_)) cascading_ = 0;
}

ExpiryWheel::Tick ExpiryWheel::cascading_end() const {
  const unsigned shift = cascading_ / kSlots * kSlotBits;
  return ((current_ >> shift) + 1) << shift;
}

LockRef ExpiryWheel::pop_due(Instant now, std::size_t& budget) {
  const Tick end = tick_of(now);  // ticks before this one are over
  while (budget > 0) {
    if (cascading_ != 0) {
      // When time has left the bucket behind, all of it is due: it need not be moved down first.
      if (!is_empty(cascading_) && cascading_end() <= end) {
        --budget;
        return pop_one(cascading_);
      }
      cascade(budget);
      continue;
    }
    unsigned level = 0;
    while (level < kLevels && occupied_[level] == 0) ++level;
    // What stands at a lower level is due before anything above.
    const Tick tick = level == kLevels ? end + 1 : *next_tick(level);
    const bool is_due = level == 0 ? tick < end : tick <= end;
    if (!is_due) {
      // Nothing stands before `tick`, so nothing is passed over by going as far as now.
      current_ = std::max(current_, std::min(tick, end));
      return 0;
    }
    current_ = std::max(current_, tick);
    const auto slot = static_cast<std::uint32_t>(tick >> (level * kSlotBits)) & (kSlots - 1);
    if (level == 0) {
      --budget;
      return pop_one(slot);
    }
    cascading_ = level * kSlots + slot;
  }
  return 0;
}

std::optional<Instant> ExpiryWheel::next_work() const {
  if (cascading_ != 0) return tick_start(current_);
  for (unsigned level = 0; level < kLevels; ++level) {
    if (const auto tick = next_tick(level)) return tick_start(level == 0 ? *tick + 1 : *tick);
  }
  return std::nullopt;
}

}  // namespace redlock::server
