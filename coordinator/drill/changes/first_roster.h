// The nodes of a drill become a group, as `redlock group create` makes one of them (rule G4).
#pragma once

#include "coordinator/drill/world/stage.h"
#include <redlock/result.h>

#include <string>
#include <vector>

namespace redlock::drill {

// All of them answer, and have no roster. Waits on the stage.
Status make_first_roster(Stage& stage, const std::vector<std::string>& addresses);

}  // namespace redlock::drill
