#include "coordinator/drill/plan/partition_plan.h"

#include "coordinator/drill/plan/planner.h"

#include <algorithm>
#include <array>

namespace redlock::drill {
namespace {

class PartitionPlan : private Planner {
 public:
  explicit PartitionPlan(const PlanTerms& terms) : Planner(terms) {}

  std::vector<PlannedFault> make();

 private:
  friend Planner;  // static_cast in card()

  Duration split(Duration at);
  Duration deaf(Duration at) { return apart(at, PlannedFault::Way::from_node); }
  Duration mute(Duration at) { return apart(at, PlannedFault::Way::to_node); }
  Duration island(Duration at);
  Duration scattered(Duration at);
  Duration slow_two(Duration at);

  Duration apart(Duration at, PlannedFault::Way way);
  void cut(Duration at, Duration end, std::size_t node, std::vector<std::size_t> clients,
           PlannedFault::Way way);
  // Long enough for whoever is cut off to lose what he holds, and for others to get it.
  Duration long_time() { return ttls(1.5, 2.0); }
};

std::vector<PlannedFault> PartitionPlan::make() {
  const Duration rest = terms_.ttl / 2;
  const std::array<Card, 6> pack = {
      card(&PartitionPlan::split, rest),     card(&PartitionPlan::deaf, rest),
      card(&PartitionPlan::mute, rest),      card(&PartitionPlan::island, rest),
      card(&PartitionPlan::scattered, rest), card(&PartitionPlan::slow_two, rest)};
  play(pack, &pack.front());
  return take();
}

Duration PartitionPlan::split(Duration at) {
  const Duration end = at + long_time();
  const std::size_t cut_off = 1 + pick(std::max<std::size_t>(terms_.clients / 2, 1));
  const auto nodes = pick_several(terms_.nodes, terms_.nodes);
  const auto clients = pick_several(terms_.clients, terms_.clients);
  const auto border = clients.begin() + static_cast<std::ptrdiff_t>(cut_off);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto lost_to =
        i < majority() ? std::vector(clients.begin(), border) : std::vector(border, clients.end());
    cut(at, end, nodes[i], lost_to, PlannedFault::Way::both);
  }
  return end;
}

// One client and a majority, in one direction: what it asks arrives and it hears nothing of it, or
// it is not heard at all.
Duration PartitionPlan::apart(Duration at, PlannedFault::Way way) {
  const Duration end = at + long_time();
  const std::size_t client = pick(terms_.clients);
  for (const std::size_t node : pick_several(majority(), terms_.nodes)) {
    cut(at, end, node, {client}, way);
  }
  return end;
}

// A node that nobody reaches: a quorum does without it.
Duration PartitionPlan::island(Duration at) {
  const Duration end = at + ttls(0.5, 1.5);
  const std::size_t node = pick(terms_.nodes);
  cut(at, end, node, {}, pick_way());
  return end;
}

// Each client loses others than the next, as many as it can do without: any two still share a node.
// A node is cut off from all its clients at once, as a further cut takes the place of the first.
Duration PartitionPlan::scattered(Duration at) {
  const Duration end = at + ttls(0.5, 1.5);
  const std::size_t spare = terms_.nodes - majority();
  std::vector<std::vector<std::size_t>> lost_to(terms_.nodes);
  for (std::size_t client = 0; client < terms_.clients; ++client) {
    for (const std::size_t node : pick_several(spare, terms_.nodes)) {
      lost_to[node].push_back(client);
    }
  }
  for (std::size_t node = 0; node < terms_.nodes; ++node) {
    if (lost_to[node].empty()) continue;  // which would mean everybody
    cut(at, end, node, std::move(lost_to[node]), PlannedFault::Way::both);
  }
  return end;
}

Duration PartitionPlan::slow_two(Duration at) {
  const Duration end = at + ttls(0.5, 1.5);
  for (const std::size_t node :
       pick_several(std::min<std::size_t>(2, terms_.nodes), terms_.nodes)) {
    add({.at = at, .fault = Fault::slow, .victim = node, .delay = between(5ms, 100ms)});
    add({.at = end, .fault = Fault::unslow, .victim = node});
  }
  return end;
}

void PartitionPlan::cut(Duration at, Duration end, std::size_t node,
                        std::vector<std::size_t> clients, PlannedFault::Way way) {
  add({.at = at, .fault = Fault::cut, .victim = node, .clients = clients, .way = way});
  add({.at = end, .fault = Fault::heal, .victim = node, .clients = std::move(clients), .way = way});
}

}  // namespace

std::vector<PlannedFault> plan_partitions(const PlanTerms& terms) {
  return PartitionPlan(terms).make();
}

}  // namespace redlock::drill
