// redlock drill partition: clients work under locks while the network falls apart.
#include "coordinator/commands/drill.h"
#include "coordinator/commands/drill_play.h"
#include "coordinator/drill/history/partition_check.h"
#include "coordinator/drill/plan/partition_plan.h"
#include "coordinator/drill/surroundings/partition.h"

namespace redlock::coordinator {
namespace {

constexpr const char* kName = "partition";
constexpr const char* kNeeds =
    "This drill makes a network of its own in a user namespace, without root. It needs ip and tc "
    "(package iproute2), nft (package nftables), and the kernel's leave: sysctl "
    "user.max_user_namespaces above 0, kernel.unprivileged_userns_clone 1 and "
    "kernel.apparmor_restrict_unprivileged_userns 0 where they exist, in a container no filter of "
    "unshare(2).";

// What an attempt takes at most when nodes are silent: its own patience, the node timeout of its
// last try, and a busy machine.
constexpr Duration kMoreThanTheAttempt = 1s;

Shown look(const History& history, const Options& options) {
  const Duration attempt_max = options.ttl / 2 + options.client.node_timeout + kMoreThanTheAttempt;
  PartitionReport report =
      check_partitions(history, {.ttl = options.ttl, .attempt_max = attempt_max});
  return {report.text(), std::move(report.differences)};
}

}  // namespace

int drill_partition(const Options& options) {
  // Before anything that could have another thread.
  if (auto entered = enter_own_namespaces(); !entered) {
    return refuse_drill(kName, entered.error().text, kNeeds);
  }
  DrillStage stage;
  const DrillFolder folder;
  if (folder.path().empty()) return without_folder();
  PartitionedNetwork network(stage, folder.path());
  auto ready = network.set_up(kDrillNodes, static_cast<std::size_t>(options.drill.clients));
  if (!ready) return refuse_drill(stage, kName, ready.error().text, kNeeds);
  return play_drill({.name = kName, .plan = plan_partitions, .look = look}, options, stage, folder,
                    network);
}

}  // namespace redlock::coordinator
