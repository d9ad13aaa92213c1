// Shrinking: the shortest sequence of events that still breaks the same promise.
//
// Events are left out, many at a time and then one by one, as long as the run still fails in the
// same way (delta debugging, Zeller and Hildebrandt 2002); then what is left is made simpler:
// clients and keys that nothing needs, rates, chance on the network.
#pragma once

#include "tests/simulation/world.h"

#include <functional>

namespace redlock::simulation {

struct Shrunk {
  Scenario scenario;
  Outcome outcome;
  std::uint64_t runs = 0;  // that it took
};

// REQUIRES: the scenario fails. progress: after each step that made it simpler.
Shrunk shrink(const Scenario& scenario, Breach breach,
              const std::function<void(const Scenario&)>& progress);

}  // namespace redlock::simulation
