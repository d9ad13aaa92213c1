// LatestDeadline: when the last of all locks will be over, without looking at them (rule R5).
//
// Locks are counted by their deadlines, rounded up to ticks of 10 ms, in a ring that spans max-ttl;
// a bit for each tick tells whether any is counted there, so the last one is found 64 ticks at a
// time. The expiry wheel cannot tell it: what is far ahead stands there in buckets of seconds.
//
// A ring of 2^20 ticks spans 2 h 54 min. For a larger max-ttl its ticks are longer, a multiple of
// 10 ms, so what is told may be later than the truth by a millionth of max-ttl: safe, as late is.
//
// What lies beyond the ring is counted apart, in order: only locks of an earlier run with a larger
// max-ttl do.
//
//   latest.add(deadline, now);  …  latest.remove(deadline);
//   if (latest.has_fallen()) … latest.find(now)
//
// Thread safety: none. Invariant: no counted deadline is later than find()'s.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>

namespace redlock::server {

// Deadlines reach the ledger rounded up to this, so it is written a hundred times a second at most.
inline constexpr Duration kDeadlineTick = 10ms;

// The next multiple of kDeadlineTick; kNever where there is none.
Instant round_up_to_tick(Instant deadline);

class LatestDeadline {
 public:
  explicit LatestDeadline(Duration max_ttl);

  void add(Instant deadline, Instant now) {
    const std::uint64_t tick = tick_of(deadline);
    if (deadline - now > span_) [[unlikely]] {
      ++beyond_[tick];
      return;
    }
    const std::size_t slot = tick & mask_;
    if (counts_[slot]++ == 0) occupied_[slot / 64] |= bit_of(slot);
    if (tick > top_) top_ = tick;
  }
  // REQUIRES: it was added.
  void remove(Instant deadline) {
    const std::uint64_t tick = tick_of(deadline);
    if (!beyond_.empty() && remove_beyond(tick)) [[unlikely]]
      return;
    const std::size_t slot = tick & mask_;
    if (--counts_[slot] > 0) return;
    occupied_[slot / 64] &= ~bit_of(slot);
    if (tick >= top_) has_fallen_ = true;
  }
  void clear();

  // Whether the latest one has been removed since find().
  bool has_fallen() const { return has_fallen_; }
  // No lock that is still live at `now` has a later deadline. Instant{}: none is live.
  Instant find(Instant now);

 private:
  static constexpr unsigned kTicksBits = 20;

  // A tick ends a deadline: all that is counted in it is over when it is.
  std::uint64_t tick_of(Instant deadline) const {
    const auto ns = static_cast<std::uint64_t>(deadline.time_since_epoch().count());
    constexpr auto kTick = static_cast<std::uint64_t>(kDeadlineTick.count());
    return (((ns + kTick - 1) / kTick) + ((std::uint64_t{1} << shift_) - 1)) >> shift_;
  }
  std::uint64_t last_tick_over(Instant now) const;
  Instant end_of(std::uint64_t tick) const;
  bool remove_beyond(std::uint64_t tick);
  static std::uint64_t bit_of(std::size_t slot) { return std::uint64_t{1} << (slot % 64); }

  // Of calloc: what no lock ever reaches takes no memory.
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  template <class Number>
  using Numbers = std::unique_ptr<Number[], Free>;

  unsigned shift_ = 0;  // a tick is kDeadlineTick << shift_
  std::size_t mask_ = 0;
  Numbers<std::uint32_t> counts_;
  Numbers<std::uint64_t> occupied_;
  Duration span_;                                // from now on, of what the ring can count
  std::map<std::uint64_t, std::size_t> beyond_;  // by tick, of what it cannot: how many
  std::uint64_t top_ = 0;                        // of the ring: no counted tick is later
  bool has_fallen_ = false;
};

}  // namespace redlock::server
