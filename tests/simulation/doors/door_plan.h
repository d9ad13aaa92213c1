// What a scenario has besides when there are front doors (rules D): doors, naive users who contend
// through them, and what happens to both. Drawn from chances of its own.
#pragma once

#include "tests/simulation/scenario.h"

namespace redlock::simulation {

// REQUIRES: the scenario has its clients, nodes and other events.
void add_doors(Scenario& scenario);

}  // namespace redlock::simulation
