// Sweep: many seeds, on several threads, until one breaks a promise or all are done.
//
// The sums do not depend on the number of threads nor on their order, as long as nothing is found;
// nor does the seed that is told: it is the first of the range that fails.
#pragma once

#include "tests/simulation/generator.h"
#include "tests/simulation/world.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace redlock::simulation {

struct SweepResult {
  std::uint64_t seeds = 0;
  std::uint64_t hash = 0;  // of all runs
  std::uint64_t steps = 0;
  std::uint64_t faults = 0;
  std::uint64_t acquired = 0;
  std::uint64_t extended = 0;
  std::uint64_t called = 0;
  std::uint64_t called_before_others = 0;
  std::uint64_t runs_with_overlap = 0;
  std::uint64_t stuck = 0;  // runs
  std::chrono::duration<double> simulated{};
  std::chrono::duration<double> took{};
  std::optional<std::uint64_t> first_failing;

  double seeds_per_second() const {
    return took.count() > 0 ? static_cast<double>(seeds) / took.count() : 0;
  }
};

class Sweep {
 public:
  struct Range {
    std::uint64_t first = 1;
    std::uint64_t last = 1;                                  // inclusive
    std::optional<std::chrono::duration<double>> time = {};  // stops then, if it is not done before
    unsigned jobs = 1;
  };
  using Progress = std::function<void(const SweepResult&)>;

  Sweep(const Range& range, const Mix& mix) : range_(range), mix_(mix), next_(range.first) {}

  // progress: called once a second, and not after the return.
  SweepResult run(const Progress& progress);

 private:
  void work();
  void add(std::uint64_t seed, const Outcome& outcome);
  bool is_time_up() const;
  SweepResult so_far();

  const Range range_;
  const Mix& mix_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> end_ = UINT64_MAX;  // no seed from here on is of interest
  std::mutex mutex_;                             // over result_
  SweepResult result_;
};

}  // namespace redlock::simulation
