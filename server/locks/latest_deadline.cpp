#include "server/locks/latest_deadline.h"

#include "base/invariant.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace redlock::server {

Instant round_up_to_tick(Instant deadline) {
  constexpr Instant kLast = kNever - kDeadlineTick;
  if (deadline > kLast) return kNever;
  const std::int64_t tick = kDeadlineTick.count();
  const std::int64_t ns = deadline.time_since_epoch().count();
  return Instant(Duration((ns + tick - 1) / tick * tick));
}

LatestDeadline::LatestDeadline(Duration max_ttl) : span_(max_ttl) {
  // One tick for the rounding, one as a lock may be granted within a tick.
  const auto ticks = static_cast<std::uint64_t>(max_ttl / kDeadlineTick) + 2;
  const auto bits = static_cast<unsigned>(std::bit_width(ticks));
  shift_ = std::max(bits, kTicksBits) - kTicksBits;
  const std::size_t slots = std::max<std::size_t>(std::bit_ceil(ticks >> shift_), 64);
  mask_ = slots - 1;
  counts_.reset(static_cast<std::uint32_t*>(std::calloc(slots, sizeof(std::uint32_t))));
  occupied_.reset(static_cast<std::uint64_t*>(std::calloc(slots / 64, sizeof(std::uint64_t))));
  INVARIANT(counts_ && occupied_, "no memory for the ring of deadlines");
}

void LatestDeadline::clear() {
  std::memset(counts_.get(), 0, (mask_ + 1) * sizeof(std::uint32_t));
  std::memset(occupied_.get(), 0, (mask_ + 1) / 64 * sizeof(std::uint64_t));
  beyond_.clear();
  has_fallen_ = true;
}

// The ring may count the same tick by now: which of the two is taken makes no difference.
bool LatestDeadline::remove_beyond(std::uint64_t tick) {
  const auto known = beyond_.find(tick);
  if (known == beyond_.end()) return false;
  if (--known->second == 0) beyond_.erase(known);
  has_fallen_ = true;
  return true;
}

Instant LatestDeadline::end_of(std::uint64_t tick) const {
  const auto tick_ns = static_cast<std::uint64_t>(kDeadlineTick.count()) << shift_;
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  if (tick > kLast / tick_ns) return kNever;
  return Instant(Duration(static_cast<std::int64_t>(tick * tick_ns)));
}

std::uint64_t LatestDeadline::last_tick_over(Instant now) const {
  const auto ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
  return ns / static_cast<std::uint64_t>(kDeadlineTick.count()) >> shift_;
}

// Down from the top, a word of the ring at a time; what is over by now does not count. The top is
// within the ring's span, so this ends after one round at most.
Instant LatestDeadline::find(Instant now) {
  has_fallen_ = false;
  const std::uint64_t over = last_tick_over(now);
  while (top_ > over) {
    const std::size_t slot = top_ & mask_;
    const std::size_t within = slot % 64;
    const std::uint64_t below = occupied_[slot / 64] << (63 - within);
    if (below != 0) {
      top_ -= static_cast<std::uint64_t>(std::countl_zero(below));
      break;
    }
    top_ -= std::min<std::uint64_t>(within + 1, top_);
  }
  // What was beyond the ring once may be less far than what the ring counts by now.
  const std::uint64_t last = beyond_.empty() ? top_ : std::max(top_, beyond_.rbegin()->first);
  return last > over ? end_of(last) : Instant{};
}

}  // namespace redlock::server
