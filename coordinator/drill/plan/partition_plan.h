// The plan of `redlock drill partition`: how the network falls apart, and when.
#pragma once

#include "coordinator/drill/plan/faults.h"

#include <vector>

namespace redlock::drill {

// As plan_faults(). There is at least one split: some clients see only a minority of the nodes, all
// others only the rest.
std::vector<PlannedFault> plan_partitions(const PlanTerms& terms);

}  // namespace redlock::drill
