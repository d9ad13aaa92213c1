// The plan of `redlock drill clock`: whose wall clock jumps, how far, and when.
#pragma once

#include "coordinator/drill/plan/faults.h"

#include <vector>

namespace redlock::drill {

// As plan_faults(). At least once a majority of the nodes jumps ahead within a moment, while what
// it granted is held.
std::vector<PlannedFault> plan_clock_jumps(const PlanTerms& terms);

}  // namespace redlock::drill
