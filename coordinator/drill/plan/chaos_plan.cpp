#include "coordinator/drill/plan/chaos_plan.h"

#include "coordinator/drill/plan/planner.h"

#include <algorithm>
#include <array>

namespace redlock::drill {
namespace {

using Whom = PlannedFault::Whom;

constexpr Duration kCalm = 5s;

class ChaosPlan : private Planner {
 public:
  explicit ChaosPlan(const PlanTerms& terms) : Planner(terms) {}

  std::vector<PlannedFault> make(bool with_calm);

 private:
  friend Planner;  // static_cast in card()

  Duration kill_one(Duration at) { return kill_node(at, pick(terms_.nodes)); }
  Duration kill_two(Duration at);
  Duration kill_majority(Duration at) { return kill_many(at, majority()); }
  Duration kill_all(Duration at) { return kill_many(at, terms_.nodes); }
  Duration kill_again_and_again(Duration at);
  Duration stop_one(Duration at) { return stop_node(at, pick(terms_.nodes)); }
  Duration stop_two(Duration at);
  Duration restart_one(Duration at);
  Duration restart_all(Duration at);
  Duration cut_node(Duration at);
  Duration slow_one(Duration at) { return slow(at, pick(terms_.nodes)); }
  Duration slow_two(Duration at);
  Duration slow_kill_and_stop(Duration at);

  static Duration leave_alone(Duration at) { return at + kCalm; }

  Duration stop_door(Duration at);
  Duration kill_door(Duration at);
  Duration slow_door(Duration at);

  Duration pause_long(Duration at);
  Duration pause_short(Duration at);
  Duration kill_client(Duration at);
  Duration sleep_through_changes(Duration at);
  Duration kill_and_start(Duration at, Whom whom, std::size_t victim);

  // From a moment to longer than any lock lives.
  Duration stop_node(Duration at, std::size_t node) {
    return stop(at, {.victim = node}, ttls(0.1, 1.5));
  }
  Duration slow(Duration at, std::size_t node);
};

std::vector<PlannedFault> ChaosPlan::make(bool with_calm) {
  // A kill is followed by a restart delay, of a TTL at most: the rest lets most of it pass.
  const Duration a_little = 100ms;
  const Duration half = terms_.ttl / 2;
  std::vector<Card> nodes = {card(&ChaosPlan::kill_all, terms_.ttl),
                             card(&ChaosPlan::kill_majority, terms_.ttl),
                             card(&ChaosPlan::kill_one, half),
                             card(&ChaosPlan::kill_two, half),
                             card(&ChaosPlan::kill_again_and_again, half),
                             card(&ChaosPlan::stop_one, a_little),
                             card(&ChaosPlan::stop_two, a_little),
                             card(&ChaosPlan::restart_one, a_little),
                             card(&ChaosPlan::restart_all, a_little),
                             card(&ChaosPlan::cut_node, a_little),
                             card(&ChaosPlan::cut_client, a_little),
                             card(&ChaosPlan::slow_one, a_little),
                             card(&ChaosPlan::slow_two, a_little),
                             card(&ChaosPlan::slow_kill_and_stop, half)};
  const std::array<Card, 5> clients = {
      card(&ChaosPlan::pause_long, a_little), card(&ChaosPlan::pause_long, a_little),
      card(&ChaosPlan::pause_long, a_little), card(&ChaosPlan::pause_short, a_little),
      card(&ChaosPlan::kill_client, a_little)};
  if (with_calm) nodes.insert(nodes.end(), 4, {leave_alone, a_little});
  play(nodes, &nodes.front());
  play(clients, nullptr);
  const std::array<Card, 4> doors = {
      card(&ChaosPlan::stop_door, a_little), card(&ChaosPlan::kill_door, a_little),
      card(&ChaosPlan::slow_door, a_little), card(&ChaosPlan::slow_door, a_little)};
  if (terms_.doors > 0) play(doors, nullptr);
  const std::array<Card, 1> sleepers = {card(&ChaosPlan::sleep_through_changes, a_little)};
  if (with_calm) play(sleepers, nullptr);
  return take();
}

Duration ChaosPlan::kill_two(Duration at) {
  const auto victims = pick_several(2, terms_.nodes);
  const Duration first = kill_node(at, victims[0]);
  const Duration later = at + between(0ms, 400ms);
  return std::max(first, kill_node(later, victims[1]));
}

// Within the restart delay that the kill before has caused (rule R3).
Duration ChaosPlan::kill_again_and_again(Duration at) {
  const std::size_t node = pick(terms_.nodes);
  for (int i = 0; i < 3; ++i) {
    at = kill_node(at, node);
    at += ttls(0.1, 0.3);
  }
  return at;
}

Duration ChaosPlan::stop_two(Duration at) {
  Duration end = at;
  for (const std::size_t node : pick_several(2, terms_.nodes)) {
    const Duration begin = at + between(0ms, 300ms);
    end = std::max(end, stop_node(begin, node));
  }
  return end;
}

Duration ChaosPlan::restart_one(Duration at) {
  add(at, Fault::restart, pick(terms_.nodes));
  return at + 200ms;
}

// As an upgrade does it: one after the other.
Duration ChaosPlan::restart_all(Duration at) {
  for (const std::size_t node : pick_several(terms_.nodes, terms_.nodes)) {
    add(at, Fault::restart, node);
    at += between(400ms, 700ms);
  }
  return at;
}

Duration ChaosPlan::cut_node(Duration at) {
  const std::size_t node = pick(terms_.nodes);
  const Duration end = at + ttls(0.3, 1.5);
  add({.at = at, .fault = Fault::cut, .victim = node, .way = pick_way()});
  add(end, Fault::heal, node);
  return end;
}

Duration ChaosPlan::slow(Duration at, std::size_t node) {
  const Duration end = at + ttls(0.5, 1.5);
  add({.at = at, .fault = Fault::slow, .victim = node, .delay = between(10ms, 300ms)});
  add(end, Fault::unslow, node);
  return end;
}

Duration ChaosPlan::slow_two(Duration at) {
  const auto victims = pick_several(2, terms_.nodes);
  const Duration first = slow(at, victims[0]);
  return std::max(first, slow(at, victims[1]));
}

// One of each, at a time: the two that are left need the slow one for a quorum.
Duration ChaosPlan::slow_kill_and_stop(Duration at) {
  const auto victims = pick_several(3, terms_.nodes);
  const Duration slowed = slow(at, victims[0]);
  const Duration stopped = stop_node(at, victims[1]);
  return std::max({slowed, stopped, kill_node(at, victims[2])});
}

// Longer than whatever it holds lives: others hold it when the client goes on.
Duration ChaosPlan::pause_long(Duration at) {
  const std::size_t client = pick(terms_.clients);
  const Duration length = ttls(1.1, 2.0);
  return stop(at, {.whom = Whom::client, .victim = client, .once_overtaken = true}, length);
}

Duration ChaosPlan::pause_short(Duration at) {
  const std::size_t client = pick(terms_.clients);
  return stop(at, {.whom = Whom::client, .victim = client}, ttls(0.05, 0.5));
}

// From a moment to longer than any lock lives: what it has read by then it answers when it goes on.
Duration ChaosPlan::stop_door(Duration at) {
  const std::size_t door = pick(terms_.doors);
  return stop(at, {.whom = Whom::door, .victim = door}, ttls(0.05, 2.0));
}

// Its answers are late, and yet mostly within the time that a client allows for (rule D2).
Duration ChaosPlan::slow_door(Duration at) {
  PlannedFault fault{.at = at, .fault = Fault::slow, .whom = Whom::door};
  fault.victim = pick(terms_.doors);
  fault.delay = between(5ms, 200ms);
  add(fault);
  fault.at = at + ttls(1.5, 3.0);
  fault.fault = Fault::unslow;
  add(fault);
  return fault.at;
}

Duration ChaosPlan::kill_door(Duration at) {
  return kill_and_start(at, Whom::door, pick(terms_.doors));
}

// Some of them, for as long as a group needs to replace more nodes than a quorum can do without:
// they go on with the nodes of before.
Duration ChaosPlan::sleep_through_changes(Duration at) {
  const Duration of_change = terms_.ttl + 1s;
  const Duration length = between(4 * of_change, 6 * of_change);
  for (const std::size_t client : pick_several((terms_.clients + 3) / 4, terms_.clients)) {
    stop(at, {.whom = Whom::client, .victim = client}, length);
  }
  return at + length;
}

Duration ChaosPlan::kill_client(Duration at) {
  return kill_and_start(at, Whom::client, pick(terms_.clients));
}

Duration ChaosPlan::kill_and_start(Duration at, Whom whom, std::size_t victim) {
  const Duration again = at + between(50ms, 500ms);
  add({.at = at, .fault = Fault::kill, .whom = whom, .victim = victim});
  add({.at = again, .fault = Fault::start, .whom = whom, .victim = victim});
  return again;
}

}  // namespace

std::vector<PlannedFault> plan_faults(const PlanTerms& terms) {
  return ChaosPlan(terms).make(false);
}

std::vector<PlannedFault> plan_faults_and_calm(const PlanTerms& terms) {
  return ChaosPlan(terms).make(true);
}

}  // namespace redlock::drill
