// DurationBuckets: how many of many took how long, by a few fixed edges, as those who collect
// numbers want it (a histogram of Prometheus).
//
//   DurationBuckets times;
//   times.add(took);
//   for (const DurationBuckets::Bucket& bucket : times.buckets()) …
//
// For what goes over a network to disks, and for locks: the edges are from a tenth of a millisecond
// to a minute.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace redlock {

class DurationBuckets {
 public:
  static constexpr std::array<Duration, 18> kEdges = {100us, 250us,  500us, 1ms,   2500us, 5ms,
                                                      10ms,  25ms,   50ms,  100ms, 250ms,  500ms,
                                                      1s,    2500ms, 5s,    10s,   30s,    1min};

  struct Bucket {
    Duration up_to{0};  // kEndless: of the last
    std::uint64_t count = 0;
  };
  static constexpr Duration kEndless = Duration::max();

  // Its place among the buckets.
  static std::size_t bucket_of(Duration took) {
    const auto* const edge = std::lower_bound(kEdges.begin(), kEdges.end(), took);
    return static_cast<std::size_t>(edge - kEdges.begin());
  }
  static constexpr Duration edge_of(std::size_t bucket) {
    return bucket < kEdges.size() ? kEdges[bucket] : kEndless;
  }

  void add(Duration took) {
    ++counts_[bucket_of(took)];
    sum_ = later(Instant(sum_), took).time_since_epoch();
  }

  // Each with what took longer than the one before it.
  std::array<Bucket, kEdges.size() + 1> buckets() const {
    std::array<Bucket, kEdges.size() + 1> buckets;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      buckets[i] = {edge_of(i), counts_[i]};
    }
    return buckets;
  }
  // kEndless where it would overflow: of three locks of a hundred years.
  Duration sum() const { return sum_; }

 private:
  std::array<std::uint64_t, kEdges.size() + 1> counts_{};
  Duration sum_{0};
};

}  // namespace redlock
