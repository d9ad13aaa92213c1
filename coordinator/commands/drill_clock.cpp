// redlock drill clock: clients work under locks while wall clocks jump.
#include "base/text/duration_text.h"
#include "coordinator/commands/drill.h"
#include "coordinator/commands/drill_play.h"
#include "coordinator/drill/history/check.h"
#include "coordinator/drill/plan/clock_plan.h"
#include "coordinator/drill/surroundings/jumping_clocks.h"

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr const char* kName = "clock";
constexpr const char* kNeeds =
    "This drill moves each process's wall clock by libfaketime (package libfaketime).";

// That no lock ends early is what the checker looks for; this is the other half. A lock that nobody
// has any more is gone from the nodes at most the drift allowance after its holder stopped relying
// on it, and they who wait for it try again at once: a TTL is far more than that takes.
Shown look(const History& history, const Options& options) {
  const TimeRange gap = check(history, tell(history)).summary.availability.longest;
  Shown shown{
      fmt::format("no lock outlasted its holder by more than {}", spoken_duration(gap.length())),
      {}};
  if (gap.length() > options.ttl) {
    shown.differences.push_back(fmt::format("a lock that nobody had could not be had for {}",
                                            spoken_duration(gap.length())));
  }
  return shown;
}

}  // namespace

int drill_clock(const Options& options) {
  DrillStage stage;
  const DrillFolder folder;
  if (folder.path().empty()) return without_folder();
  JumpingClocks clocks(stage, folder.path());
  auto ready = clocks.set_up(kDrillNodes, static_cast<std::size_t>(options.drill.clients));
  if (!ready) return refuse_drill(stage, kName, ready.error().text, kNeeds);
  return play_drill({.name = kName, .plan = plan_clock_jumps, .look = look}, options, stage, folder,
                    clocks);
}

}  // namespace redlock::coordinator
