// How long many things took, in little memory whatever their number.
//
//   LatencyHistogram latencies;
//   latencies.add(took);
//   latencies.at(0.99)          // 99 % took at most so long
//
// A power of two of nanoseconds is divided into 128 buckets of the same width, so what is told is
// at most 0.8 % more than what was measured, and never less. Values from 1 ns to 292 years.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redlock::coordinator {

class LatencyHistogram {
 public:
  // Not negative.
  void add(Duration took);

  std::uint64_t count() const { return count_; }
  Duration max() const { return max_; }
  // The time within which this share of them ended, from 0 to 1; 0 of none.
  Duration at(double share) const;

  // For drawing: how many took more than the bar before and at most `up_to`, one of ten round
  // numbers in a power of ten, give or take a bucket; from the first bar with any to the last.
  struct Bar {
    Duration up_to{0};
    std::uint64_t count = 0;
  };
  std::vector<Bar> bars() const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  Duration max_{0};
};

}  // namespace redlock::coordinator
