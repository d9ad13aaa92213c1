#include "base/duration_buckets.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("each stands in the bucket whose edge it does not pass") {
  DurationBuckets times;
  for (const Duration took : {Duration(0ns), Duration(100us), Duration(100us + 1ns), Duration(1s),
                              Duration(1s + 1ns), Duration(1h)}) {
    times.add(took);
  }
  const auto buckets = times.buckets();
  CHECK(std::is_sorted(buckets.begin(), buckets.end(),
                       [](const auto& a, const auto& b) { return a.up_to < b.up_to; }));
  CHECK(buckets[0].up_to == 100us);
  CHECK(buckets[0].count == 2);
  CHECK(buckets[1].count == 1);
  CHECK(buckets[12].up_to == 1s);
  CHECK(buckets[12].count == 1);
  CHECK(buckets[13].count == 1);
  CHECK(buckets.back().up_to == DurationBuckets::kEndless);
  CHECK(buckets.back().count == 1);
  CHECK(times.sum() == 200us + 1ns + 2s + 1ns + 1h);
}

TEST_CASE("the sum of what is very long ends at the longest") {
  DurationBuckets times;
  for (int i = 0; i < 3; ++i) times.add(Duration::max() / 2);
  CHECK(times.sum() == DurationBuckets::kEndless);
  CHECK(times.buckets().back().count == 3);
}
