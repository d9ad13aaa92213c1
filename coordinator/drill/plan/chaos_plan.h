// The plan of `redlock drill chaos`: nodes that are killed, stopped, restarted, cut off and slowed
// down, clients that are stopped, killed and cut off, and so front doors, where there are some.
#pragma once

#include "coordinator/drill/plan/faults.h"

#include <vector>

namespace redlock::drill {

// By time. All is whole again at the end: `length` at the latest for episodes that fit into it, and
// at least once all nodes are killed within moments, however short it is.
std::vector<PlannedFault> plan_faults(const PlanTerms& terms);
// For a group that changes meanwhile. The same, but that the nodes are left alone for a while now
// and then, when what is seen is the work of the changes;
// and clients sleep through several changes.
std::vector<PlannedFault> plan_faults_and_calm(const PlanTerms& terms);

}  // namespace redlock::drill
