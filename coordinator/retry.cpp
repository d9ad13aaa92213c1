#include "coordinator/retry.h"

#include <algorithm>

namespace redlock::coordinator {

Retry::Retry(Patience patience, Instant start)
    : patience_(patience), start_(start), last_quorum_(start) {}

std::optional<Instant> Retry::after(AcquisitionOutcome outcome, bool split_vote, Instant now,
                                    Random& random) {
  if (outcome != AcquisitionOutcome::no_quorum) last_quorum_ = now;
  const Instant patience_end =
      patience_.wait ? later(start_, *patience_.wait) : later(last_quorum_, kPatienceWithoutQuorum);
  if (now >= patience_end) return std::nullopt;
  // The last attempt is made when the wait is over, not before.
  return std::min(later(now, delay(split_vote, random)), patience_end);
}

Duration Retry::delay(bool split_vote, Random& random) {
  split_votes_ = split_vote ? std::min(split_votes_ + 1, kRetryDoublingsMax) : 0;
  const Duration window = kRetryWindow * (1u << split_votes_);
  const auto span = static_cast<std::uint64_t>((window - kRetryDelayMin).count());
  return kRetryDelayMin + Duration(random.below(span));
}

}  // namespace redlock::coordinator
