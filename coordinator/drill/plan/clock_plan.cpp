#include "coordinator/drill/plan/clock_plan.h"

#include "coordinator/drill/plan/planner.h"

#include <array>

namespace redlock::drill {
namespace {

using Whom = PlannedFault::Whom;

constexpr Duration kLeast = std::chrono::minutes(1);  // beyond any lock's life
constexpr Duration kMost = std::chrono::hours(12);

class ClockPlan : private Planner {
 public:
  explicit ClockPlan(const PlanTerms& terms) : Planner(terms) {}

  std::vector<PlannedFault> make();

 private:
  friend Planner;  // static_cast in card()

  Duration further_and_further(Duration at);
  Duration majority_back(Duration at);
  Duration one_node(Duration at) { return astray(at, Whom::node, pick(terms_.nodes)); }
  Duration one_client(Duration at) { return astray(at, Whom::client, pick(terms_.clients)); }
  Duration everyone(Duration at);

  void jump(Duration at, Whom whom, std::size_t who, Duration by) {
    add({.at = at, .fault = Fault::jump, .whom = whom, .victim = who, .delay = by});
  }
  // Nobody is left with a wrong clock: the next jump is to be one, too.
  Duration there_and_back(Duration at, Whom whom, std::size_t who, Duration by);
  Duration astray(Duration at, Whom whom, std::size_t who) {
    return there_and_back(at, whom, who, any_way());
  }
  Duration within_burst(Duration at) { return at + between(0ms, kBurst); }
  Duration ahead() { return between(kLeast, kMost); }
  Duration any_way() { return pick(2) == 0 ? ahead() : -ahead(); }
};

std::vector<PlannedFault> ClockPlan::make() {
  const Duration rest = terms_.ttl / 4;
  const std::array<Card, 5> pack = {
      card(&ClockPlan::further_and_further, rest), card(&ClockPlan::majority_back, rest),
      card(&ClockPlan::one_node, rest), card(&ClockPlan::one_client, rest),
      card(&ClockPlan::everyone, rest)};
  play(pack, &pack.front());
  return take();
}

// What a lock store that counts by the wall clock does not survive: most of those who granted a
// lock see it run out at once. Several times, as at some instant all holds may be short ones.
Duration ClockPlan::further_and_further(Duration at) {
  const auto nodes = pick_several(majority(), terms_.nodes);
  std::vector<Duration> by(nodes.size());
  for (int i = 0; i < 4; ++i) {
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      const Duration further = ahead();
      jump(within_burst(at), Whom::node, nodes[node], further);
      by[node] += further;
    }
    at += ttls(0.25, 0.5);
  }
  for (std::size_t node = 0; node < nodes.size(); ++node)
    jump(at, Whom::node, nodes[node], -by[node]);
  return at;
}

// Such a store keeps a lock for hours.
Duration ClockPlan::majority_back(Duration at) {
  Duration end = at;
  for (const std::size_t node : pick_several(majority(), terms_.nodes)) {
    const Duration begin = within_burst(at);
    end = std::max(end, there_and_back(begin, Whom::node, node, -ahead()));
  }
  return end;
}

Duration ClockPlan::everyone(Duration at) {
  Duration end = at;
  for (std::size_t node = 0; node < terms_.nodes; ++node) {
    end = std::max(end, astray(within_burst(at), Whom::node, node));
  }
  for (std::size_t client = 0; client < terms_.clients; ++client) {
    end = std::max(end, astray(within_burst(at), Whom::client, client));
  }
  return end;
}

Duration ClockPlan::there_and_back(Duration at, Whom whom, std::size_t who, Duration by) {
  const Duration end = at + ttls(0.2, 1.0);
  jump(at, whom, who, by);
  jump(end, whom, who, -by);
  return end;
}

}  // namespace

std::vector<PlannedFault> plan_clock_jumps(const PlanTerms& terms) {
  return ClockPlan(terms).make();
}

}  // namespace redlock::drill
