// The simulator as a judge of mutants: runs the seeds that its standard input names, up to the
// first that breaks a promise.
//
//   MIX SEED LIMIT HASH     a line each: MIX is a row of kMixes, LIMIT its CPU seconds (0: none),
//                           HASH what the whole program's run comes to (0: not known)
//
// It ends with 0 and says "unchanged" or "changed", or with 1 and says what was found; a broken
// INVARIANT and a run that exceeds its limit end it by a signal. With REDLOCK_MUTANTS_MET it writes
// whom each run meets, with the run's hash, and no run may break anything.
#include "tests/mutants/met_file.h"
#include "tests/simulation/generator.h"
#include "tests/simulation/memory.h"
#include "tests/simulation/world.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

// The mixes of tests/simulation/CMakeLists.txt.
Mix mix_of(std::size_t row) {
  Mix mix;
  mix.faults = faults_of(true);
  switch (row) {
    case 0:
      break;
    case 1:
      mix.faults = faults_of(false);
      mix.clocks_hold = false;
      break;
    case 2:
      mix.also = {Deed::swap};
      break;
    case 3:
      mix.also = {Deed::release_for};
      break;
    case 4:
      mix.faults = {Deed::lose_disk, Deed::pause_node, Deed::cut, Deed::kill};
      mix.counters_apart = true;
      break;
    case 5:
      mix.rosters = true;
      break;
    case 6:
      mix.doors = true;
      break;
    default:
      fmt::print(stderr, "there is no mix {}\n", row);
      std::exit(64);
  }
  return mix;
}

int judge() {
  redlock_mutants::MetFile met;
  bool has_changed = false;
  unsigned long row = 0, seed = 0, hash = 0;
  double limit = 0;
  while (std::scanf("%lu %lu %lf %lx", &row, &seed, &limit, &hash) == 4) {
    redlock_mutants::limit_cpu(limit);
    met.begin();
    const Outcome outcome = run(make_scenario(seed, mix_of(row)), Story::Telling::nothing);
    met.end(fmt::format("{} {}", row, seed), fmt::format("{:016x}", outcome.hash));
    if (outcome.violation) {
      fmt::print("{} with seed {} of mix {}: {}\n", breach_name(outcome.violation->breach), seed,
                 row, outcome.violation->text);
      return 1;
    }
    has_changed = has_changed || (hash != 0 && hash != outcome.hash);
  }
  fmt::print("{}\n", has_changed ? "changed" : "unchanged");
  return 0;
}

}  // namespace
}  // namespace redlock::simulation

int main() {
  redlock::simulation::settle_memory();
  return redlock::simulation::judge();
}
