#include "tests/simulation/sweep.h"

#include "base/hash.h"
#include "base/invariant.h"

#include <algorithm>
#include <cstdio>
#include <future>
#include <vector>

namespace redlock::simulation {
namespace {

thread_local std::uint64_t running_seed = 0;

void tell_with_seed(const char* text) {
  std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(running_seed), text);
}

}  // namespace

SweepResult Sweep::run(const Progress& progress) {
  tell_broken_invariants(tell_with_seed);
  end_ = range_.last + 1;
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < range_.jobs; ++i) {
    workers.push_back(std::async(std::launch::async, [this] { work(); }));
  }
  for (const auto& worker : workers) {
    while (worker.wait_for(std::chrono::seconds(1)) != std::future_status::ready) {
      progress(so_far());
    }
  }
  return so_far();
}

void Sweep::work() {
  while (!is_time_up()) {
    const std::uint64_t seed = next_++;
    if (seed >= end_) return;
    running_seed = seed;
    add(seed, simulation::run(make_scenario(seed, mix_), Story::Telling::nothing));
  }
}

bool Sweep::is_time_up() const {
  return range_.time && std::chrono::steady_clock::now() - began_ >= *range_.time;
}

void Sweep::add(std::uint64_t seed, const Outcome& outcome) {
  const std::lock_guard guard(mutex_);
  ++result_.seeds;
  // A sum of hashes with their seeds: the same in whatever order they come.
  result_.hash += keyed_hash(std::to_string(outcome.hash), seed);
  result_.steps += outcome.steps;
  result_.faults += outcome.faults;
  result_.acquired += outcome.acquired;
  result_.extended += outcome.extended;
  result_.called += outcome.called;
  result_.called_before_others += outcome.called_before_others;
  result_.runs_with_overlap += outcome.overlaps > 0 ? 1 : 0;
  result_.stuck += outcome.is_stuck ? 1 : 0;
  result_.simulated += outcome.simulated;
  if (!outcome.violation) return;
  result_.first_failing = std::min(seed, result_.first_failing.value_or(seed));
  end_ = std::min<std::uint64_t>(end_, *result_.first_failing);
}

SweepResult Sweep::so_far() {
  const std::lock_guard guard(mutex_);
  result_.took = std::chrono::steady_clock::now() - began_;
  return result_;
}

}  // namespace redlock::simulation
