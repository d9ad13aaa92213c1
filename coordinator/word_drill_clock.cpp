// redlock drill clock: clients work under locks while wall clocks jump.
#include "coordinator/drill/clock.h"
#include "coordinator/drill/clock_plan.h"
#include "coordinator/word_drill.h"
#include "coordinator/word_drill_play.h"

namespace redlock::coordinator {
namespace {

constexpr const char* kName = "clock";
constexpr const char* kNeeds =
    "This drill moves each process's wall clock by libfaketime (package libfaketime).";

}  // namespace

int drill_clock(const Options& options) {
  DrillStage stage;
  const DrillFolder folder;
  if (folder.path().empty()) return without_folder();
  JumpingClocks clocks(stage, folder.path());
  auto ready = clocks.set_up(kDrillNodes, static_cast<std::size_t>(options.clients));
  if (!ready) return refuse_drill(kName, ready.error(), kNeeds);
  return play_drill({.name = kName, .plan = plan_clock_jumps}, options, stage, folder, clocks);
}

}  // namespace redlock::coordinator
