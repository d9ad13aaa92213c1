#include "coordinator/group/retry.h"

#include <algorithm>

namespace redlock::coordinator {

Retry::Retry(Patience patience, Instant start)
    : patience_(patience), start_(start), last_quorum_(start) {}

std::optional<Instant> Retry::after(AcquisitionOutcome outcome, bool split_vote, Instant now,
                                    Random& random) {
  const bool was_quorum =
      outcome != AcquisitionOutcome::no_quorum && outcome != AcquisitionOutcome::unfenced;
  if (was_quorum) last_quorum_ = now;
  const Instant patience_end =
      patience_.wait ? last_attempt() : later(last_quorum_, kPatienceWithoutQuorum);
  if (now >= patience_end || (patience_.splits_only && !split_vote)) return std::nullopt;
  split_votes_ = split_vote ? std::min(split_votes_ + 1, kRetryDoublingsMax) : 0;
  return std::min(later(now, delay(random)), patience_end);
}

Instant Retry::after_wake(Instant now, Duration took, Random& random, bool is_alone) {
  last_quorum_ = now;
  if (is_alone && split_votes_ < 2) return std::min(now, last_attempt());
  Duration window = kWakeWindow;
  if (is_alone) {
    window = kWakeWindow * (1u << (split_votes_ - 1));
  } else if (split_votes_ > 0) {
    window = (kWakeWindow + took) * (1u << split_votes_);
  }
  const Duration wait(random.below(static_cast<std::uint64_t>(window.count())));
  return std::min(later(now, wait), last_attempt());
}

Instant Retry::poll(Instant now, Random& random) {
  last_quorum_ = now;
  return std::min(later(now, delay(random)), last_attempt());
}

Duration Retry::delay(Random& random) const {
  const Duration window = kRetryWindow * (1u << split_votes_);
  const auto span = static_cast<std::uint64_t>((window - kRetryDelayMin).count());
  return kRetryDelayMin + Duration(random.below(span));
}

}  // namespace redlock::coordinator
