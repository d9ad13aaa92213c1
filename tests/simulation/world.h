// World: runs a scenario from its beginning to the calm after it, and tells what came of it.
//
//   const Outcome outcome = run(scenario, Story::Telling::nothing);
//   if (outcome.violation) …
//
// The nodes, the coordinators and their recovery are the shipped code; the world gives them time,
// bytes and chance, and nothing else. When the scenario's length has passed all faults end, nobody
// wants anything more, and when every delay is over no node may hold anything, or be unfenced (rule
// F6). Then each client in turn must get a lock that is free, with a token (rule Q1).
#pragma once

#include "tests/simulation/referee.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/story.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

struct Outcome {
  std::optional<Violation> violation;
  std::uint64_t hash = 0;
  std::uint64_t steps = 0;
  std::uint64_t faults = 0;
  std::uint64_t acquired = 0;
  std::uint64_t extended = 0;
  std::uint64_t called = 0;                // who waited for a lock, by a node
  std::uint64_t called_before_others = 0;  // of them, with others behind them
  std::uint64_t overlaps = 0;              // also those that were to be expected
  bool is_stuck = false;                   // only an operator can help the group to go on
  Duration simulated{};
  std::vector<std::string> story;
};

Outcome run(const Scenario& scenario, Story::Telling telling);

}  // namespace redlock::simulation
