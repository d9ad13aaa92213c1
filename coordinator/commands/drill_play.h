// What `redlock drill chaos`, `partition` and `clock` have in common: they differ in what befalls
// whom, and where.
#pragma once

#include "coordinator/cli/options.h"
#include "coordinator/drill/history/history.h"
#include "coordinator/drill/plan/faults.h"
#include "coordinator/drill/surroundings/surroundings.h"
#include "coordinator/drill/world/folder.h"
#include "coordinator/drill/world/nodes.h"
#include "coordinator/drill/world/stage.h"

#include <string>
#include <vector>

namespace redlock::coordinator {

// What such a drill has to show beyond the rules of locks.
struct Shown {
  std::string text;                      // for people
  std::vector<std::string> differences;  // from what should be
};

struct DrillToPlay {
  std::string name;  // "chaos"
  std::vector<PlannedFault> (*plan)(const PlanTerms& terms);
  Shown (*look)(const History& history, const Options& options) = nullptr;
};

// Plays the drill in its surroundings, which are set up, judges and tells; the exit code. The
// folder is the drill's own.
int play_drill(const DrillToPlay& drill, const Options& options, DrillStage& stage,
               const DrillFolder& folder, Surroundings& surroundings);

// Where there can be no temporary folder.
int without_folder();

// What a drill that this machine does not allow ends with: which, why, and what it needs.
int refuse_drill(const std::string& name, const std::string& why, const std::string& needs);
// The same, unless it was interrupted.
int refuse_drill(const DrillStage& stage, const std::string& name, const std::string& why,
                 const std::string& needs);

}  // namespace redlock::coordinator
