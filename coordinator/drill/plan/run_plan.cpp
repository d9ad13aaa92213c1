#include "coordinator/drill/plan/run_plan.h"

#include "coordinator/drill/plan/planner.h"

#include <algorithm>
#include <array>

namespace redlock::drill {
namespace {

using Part = PlannedFault::Part;

class RunPlan : private Planner {
 public:
  explicit RunPlan(const PlanTerms& terms) : Planner(terms) {}

  std::vector<PlannedFault> make();

 private:
  friend Planner;  // static_cast in card()

  Duration kill_one(Duration at) { return kill_node(at, pick(terms_.nodes)); }
  Duration kill_majority(Duration at) { return kill_many(at, majority()); }
  Duration stop_majority(Duration at);
  Duration restart_one(Duration at);

  Duration stop_loops(Duration at) { return stop_some(at, Part::loop); }
  Duration stop_both(Duration at) { return stop_some(at, Part::all); }
  Duration stop_guards(Duration at);
  Duration kill_loops(Duration at) { return kill_some(at, Part::loop); }
  Duration kill_guards(Duration at) { return kill_some(at, Part::guard); }
  Duration kill_both(Duration at) { return kill_some(at, Part::all); }

  // Half of them: where each lock has a few that want it, some of these hold one.
  std::vector<std::size_t> some_clients() {
    return pick_several((terms_.clients + 1) / 2, terms_.clients);
  }
  Duration stop_some(Duration at, Part part);
  Duration kill_some(Duration at, Part part);
};

std::vector<PlannedFault> RunPlan::make() {
  const Duration a_little = 100ms;
  const Duration half = terms_.ttl / 2;
  const std::array<Card, 4> nodes = {
      card(&RunPlan::stop_majority, terms_.ttl), card(&RunPlan::kill_majority, terms_.ttl),
      card(&RunPlan::kill_one, half), card(&RunPlan::restart_one, half)};
  const std::array<Card, 9> clients = {
      card(&RunPlan::stop_loops, a_little),  card(&RunPlan::stop_loops, a_little),
      card(&RunPlan::kill_loops, a_little),  card(&RunPlan::kill_guards, a_little),
      card(&RunPlan::stop_guards, a_little), card(&RunPlan::kill_guards, a_little),
      card(&RunPlan::cut_client, a_little),  card(&RunPlan::stop_both, a_little),
      card(&RunPlan::kill_both, a_little)};
  play(clients, &clients.front());
  play(nodes, nullptr);
  return take();
}

// For long enough that no lock can be extended in time: every command must be stopped.
Duration RunPlan::stop_majority(Duration at) {
  const Duration length = ttls(1.2, 1.5);
  for (const std::size_t node : pick_several(majority(), terms_.nodes)) {
    stop(at, {.victim = node}, length);
  }
  return at + length;
}

Duration RunPlan::restart_one(Duration at) {
  add(at, Fault::restart, pick(terms_.nodes));
  return at + 200ms;
}

// Longer than whatever they hold lives. Where both are stopped, until others have held it: there
// only the token protects.
Duration RunPlan::stop_some(Duration at, Part part) {
  const Duration length = ttls(1.2, 2.0);
  for (const std::size_t client : some_clients()) {
    stop(at,
         {.whom = PlannedFault::Whom::client,
          .victim = client,
          .part = part,
          .once_overtaken = part == Part::all},
         length);
  }
  return at + length;
}

// Their loops continue them.
Duration RunPlan::stop_guards(Duration at) {
  for (const std::size_t client : some_clients()) {
    add({.at = at,
         .fault = Fault::stop,
         .whom = PlannedFault::Whom::client,
         .victim = client,
         .part = Part::guard});
  }
  return at;
}

// Who worked by them goes on with a new one, as a cron job does.
Duration RunPlan::kill_some(Duration at, Part part) {
  Duration last = at;
  for (const std::size_t client : some_clients()) {
    const Duration killed = at + between(0ms, 300ms);
    add({.at = killed,
         .fault = Fault::kill,
         .whom = PlannedFault::Whom::client,
         .victim = client,
         .part = part});
    last = std::max(last, killed);
  }
  return last;
}

}  // namespace

std::vector<PlannedFault> plan_run_faults(const PlanTerms& terms) {
  return RunPlan(terms).make();
}

}  // namespace redlock::drill
