// redlock drill chaos: clients work under locks while nodes and clients are killed and stopped.
#include "coordinator/commands/drill.h"
#include "coordinator/commands/drill_play.h"
#include "coordinator/drill/plan/chaos_plan.h"
#include "coordinator/drill/surroundings/relayed_network.h"

namespace redlock::coordinator {
namespace {

constexpr const char* kName = "chaos";
constexpr const char* kNeeds = "With fewer --clients it needs fewer.";

}  // namespace

int drill_chaos(const Options& options) {
  DrillStage stage;
  const DrillFolder folder;
  if (folder.path().empty()) return without_folder();
  DrillNetwork network(stage.loop(), folder.path());
  auto ready = network.set_up(kDrillNodes, static_cast<std::size_t>(options.drill.clients));
  if (!ready) return refuse_drill(stage, kName, ready.error().text, kNeeds);
  return play_drill({.name = kName, .plan = plan_faults}, options, stage, folder, network);
}

}  // namespace redlock::coordinator
