// redlock drill chaos: clients work under locks while nodes and clients are killed and stopped.
#include "coordinator/drill/network.h"
#include "coordinator/word_drill.h"
#include "coordinator/word_drill_play.h"

namespace redlock::coordinator {

int drill_chaos(const Options& options) {
  DrillStage stage;
  const DrillFolder folder;
  if (folder.path().empty()) return without_folder();
  DrillNetwork network(stage.loop(), folder.path());
  // Relays are there on any machine.
  static_cast<void>(network.set_up(kDrillNodes, static_cast<std::size_t>(options.clients)));
  return play_drill({.name = "chaos", .plan = plan_faults}, options, stage, folder, network);
}

}  // namespace redlock::coordinator
