#include "coordinator/bench/latency_histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace redlock::coordinator {
namespace {

constexpr unsigned kBits = 7;  // 128 buckets for each power of two
constexpr std::uint64_t kPerPower = 1U << kBits;

// The first 128 values have a bucket each; from there on the 7 bits behind the highest one name the
// bucket within its power of two.
std::size_t bucket_of(std::uint64_t ns) {
  if (ns < kPerPower) return ns;
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kBits;
  return (shift + 1) * kPerPower + ((ns >> shift) - kPerPower);
}

// The largest value of a bucket.
std::uint64_t end_of(std::size_t bucket) {
  if (bucket < kPerPower) return bucket;
  const auto shift = bucket / kPerPower - 1;
  return ((bucket % kPerPower + kPerPower + 1) << shift) - 1;
}

Duration duration_of(std::uint64_t ns) {
  return Duration(static_cast<std::int64_t>(ns));
}

// Ten to a power of ten, each a quarter more than the last, in figures that are easy to read.
constexpr std::array<std::int64_t, 10> kEdges = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80};

// 1 µs, 1.2 µs, 1.5 µs, 2 µs …
Duration next_edge(Duration edge) {
  std::int64_t power = 1;
  while (edge.count() / power >= 100) power *= 10;
  const std::int64_t leading = edge.count() / power;
  const auto* next = std::upper_bound(kEdges.begin(), kEdges.end(), leading);
  if (next != kEdges.end()) return Duration(*next * power);
  return edge > Duration::max() / 100 ? Duration::max() : Duration(100 * power);
}

}  // namespace

void LatencyHistogram::add(Duration took) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0));
  const std::size_t bucket = bucket_of(ns);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  max_ = std::max(max_, took);
}

Duration LatencyHistogram::at(double share) const {
  const double wanted = std::max(std::ceil(share * static_cast<double>(count_)), 1.0);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (static_cast<double>(seen) >= wanted) return std::min(duration_of(end_of(i)), max_);
  }
  return max_;
}

std::vector<LatencyHistogram::Bar> LatencyHistogram::bars() const {
  std::vector<Bar> bars;
  Bar bar{.up_to = 1us};
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const Duration value = std::min(duration_of(end_of(i)), max_);
    for (; value > bar.up_to; bar = {.up_to = next_edge(bar.up_to)}) {
      if (bar.count > 0 || !bars.empty()) bars.push_back(bar);
    }
    bar.count += buckets_[i];
  }
  if (bar.count > 0) bars.push_back(bar);
  return bars;
}

}  // namespace redlock::coordinator
