// RecentRates: how many commands and bytes a second a node had lately, for INFO.
//
//   rates.note(now, counts);                       // at each receipt, before it counts
//   const auto lately = rates.per_second(now, counts);
//
// The counts are kept as they were every kStep, kSteps of them: Redis's figures. An idle node does
// not wake for it, so what is told is the mean since the oldest of them that is not older than the
// whole, or, after a longer silence, since the newest.
//
// Pure. Thread safety: none.
#pragma once

#include "base/time.h"

#include <array>
#include <cstdint>

namespace redlock::server {

class RecentRates {
 public:
  static constexpr Duration kStep = 100ms;
  static constexpr std::size_t kSteps = 16;

  struct Counts {
    std::uint64_t commands = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
  };

  void note(Instant now, const Counts& counts) {
    if (now - newest().when < kStep) return;
    next_ = (next_ + 1) % kSteps;
    newest() = {now, counts};
  }

  Counts per_second(Instant now, const Counts& counts) const {
    const Sample& base = base_at(now);
    const double seconds = std::chrono::duration<double>(now - base.when).count();
    if (seconds <= 0) return {};
    const auto rate = [seconds](std::uint64_t now_at, std::uint64_t was_at) {
      return static_cast<std::uint64_t>(static_cast<double>(now_at - was_at) / seconds);
    };
    return {rate(counts.commands, base.counts.commands),
            rate(counts.bytes_in, base.counts.bytes_in),
            rate(counts.bytes_out, base.counts.bytes_out)};
  }

 private:
  struct Sample {
    Instant when{};
    Counts counts;
  };

  Sample& newest() { return samples_[next_]; }

  const Sample& base_at(Instant now) const {
    for (std::size_t i = 1; i <= kSteps; ++i) {
      const Sample& sample = samples_[(next_ + i) % kSteps];
      if (now - sample.when <= kStep * kSteps) return sample;
    }
    return samples_[next_];
  }

  std::array<Sample, kSteps> samples_{};
  std::size_t next_ = 0;  // where the newest stands
};

}  // namespace redlock::server
