// ExpiryWheel: which locks are over, without looking at the others. A hierarchical timing wheel
// (Varghese and Lauck, 1987) with a bit for each occupied bucket.
//
// Time is counted in ticks of 2^18 ns (262 µs). Level 0 has a bucket a tick, level 1 a bucket for
// 64 ticks, level 2 for 64² … eight levels of 64 buckets span more than 64-bit nanoseconds hold. A
// lock stands at the level of the highest group of six bits in which its deadline's tick differs
// from the current tick; when time reaches its bucket there, it moves down ("cascades"). So
// linking, unlinking and relinking are a few instructions, and the next occupied bucket is found
// from the bits, not by walking.
//
// Pull, not callbacks: pop_due() hands out one record after another and takes each step, cascades
// included, from a budget, so that a million locks with one deadline cost no pause (rule C5: the
// wheel only gives memory back; a lock is over at its deadline for whoever looks).
//
// A bucket is several lists, handed out in turn: the next record of a list is known only when
// memory has brought the one before it, and meanwhile the other lists go on. They are filled by
// runs: what was granted in a row mostly stands side by side in memory, and should here.
//
// The records carry the links: wheel_next and wheel_previous are references; the first record of a
// list has kListMark | list in wheel_previous, so it can be unlinked without a search.
//
// Thread safety: none. Invariant: no linked record stands in a bucket
// that ends before its deadline.
#pragma once

#include "base/memory/prefetch.h"
#include "base/time.h"
#include "server/locks/lock_arena.h"

#include <array>
#include <cstdint>
#include <optional>

namespace redlock::server {

class ExpiryWheel {
 public:
  // Of the records in this arena, which must outlive the wheel.
  explicit ExpiryWheel(LockArena& arena) : arena_(arena) {}

  // By the record's deadline. REQUIRES: it has one, and is not linked.
  void link(LockRef ref, Instant now);
  void unlink(LockRef ref);

  // What unlink() will touch besides the record. REQUIRES: it is linked.
  void prefetch_neighbours(LockRef ref) const {
    const Lock& lock = arena_.at(ref);
    if (lock.wheel_next() != 0) prefetch(&arena_.at(lock.wheel_next()));
    if ((lock.wheel_previous() & kListMark) == 0) prefetch(&arena_.at(lock.wheel_previous()));
  }

  // Forgets all, without touching the records.
  void clear();

  // Unlinks and returns a record whose deadline has passed by `now`, 0 when there is none or the
  // budget is used up. Takes one from the budget for each record looked at.
  LockRef pop_due(Instant now, std::size_t& budget);

  // When pop_due() will next have something to do; nullopt: nothing is linked.
  std::optional<Instant> next_work() const;

 private:
  static constexpr unsigned kTickBits = 18;
  static constexpr unsigned kSlotBits = 6;
  static constexpr unsigned kSlots = 1u << kSlotBits;
  static constexpr unsigned kLevels = 8;
  static constexpr unsigned kLists = 8;  // of a bucket
  static constexpr unsigned kRun = 64;   // links in a row to one of them
  static constexpr std::uint32_t kListMark = 1u << 31;

  using Tick = std::uint64_t;

  static Tick tick_of(Instant when);
  static Instant tick_start(Tick tick);
  std::uint32_t bucket_of(Tick tick) const;
  // The start of the bucket that time reaches next at this level.
  std::optional<Tick> next_tick(unsigned level) const;
  void link_at(std::uint32_t bucket, LockRef ref);
  bool is_empty(std::uint32_t bucket) const;
  // REQUIRES: !is_empty(bucket).
  LockRef pop_one(std::uint32_t bucket);
  void cascade(std::size_t& budget);
  Tick cascading_end() const;

  LockArena& arena_;
  Tick current_ = 0;  // no record stands in a bucket before it
  // The bucket that is being moved down, or handed out, when a budget ran out in the middle; 0:
  // none (bucket 0 is of level 0 and never moves down). Until it is empty
  // it goes before everything else.
  std::uint32_t cascading_ = 0;
  std::size_t size_ = 0;
  std::array<std::uint64_t, kLevels> occupied_{};
  std::array<LockRef, kLevels * kSlots * kLists> first_{};
  unsigned links_ = 0;        // ever, modulo 2^32
  unsigned popped_from_ = 0;  // this list of its bucket
};

}  // namespace redlock::server
