// What a scenario has besides when its group has a roster (rules G): spare nodes, changes of the
// roster with what makes them hard, and lists that are wrong. Drawn from chances of its own.
#pragma once

#include "tests/simulation/scenario.h"

#include <vector>

namespace redlock::simulation {

// REQUIRES: the scenario has its clients, nodes and other events. disks_lost: nodes whose ledgers
// these lose.
void add_rosters(Scenario& scenario, const std::vector<unsigned>& disks_lost);

}  // namespace redlock::simulation
