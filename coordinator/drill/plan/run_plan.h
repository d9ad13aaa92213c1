// The plan of `redlock drill run`: what befalls nodes, and the two processes that stand between a
// lock and its command, the loop of `redlock run` and its guard.
#pragma once

#include "coordinator/drill/plan/faults.h"

#include <vector>

namespace redlock::drill {

// As plan_faults(). The first thing that happens is that loops are stopped for longer than any lock
// lives, while what they hold is wanted by others.
std::vector<PlannedFault> plan_run_faults(const PlanTerms& terms);

}  // namespace redlock::drill
