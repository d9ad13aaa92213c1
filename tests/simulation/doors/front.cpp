#include "tests/simulation/doors/front.h"

#include "coordinator/front_door/records/record.h"
#include "coordinator/quorum/padding.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

constexpr std::uint64_t kNetworkChances = 0x66726f6e74;
// A free lock is got within this time once all is calm.
constexpr Duration kProbeTime = 16s;

// What comes later than the doors' reply time comes as late as a lost segment.
Scenario network_plan(const Scenario& scenario) {
  Scenario plan;
  plan.seed = scenario.seed ^ kNetworkChances;
  plan.nodes = scenario.doors;
  plan.clients = scenario.naives;
  plan.pieces_per_thousand = scenario.pieces_per_thousand;
  plan.delay_min = std::min<Duration>(100us, scenario.front_delay_max);
  plan.delay_max = scenario.front_delay_max;
  plan.resent_per_thousand = scenario.late_replies_per_thousand;
  return plan;
}

}  // namespace

Front::Front(const Surroundings& world)
    : world_(world),
      network_plan_(network_plan(world.scenario)),
      network_(world.agenda, world.story, network_plan_) {
  for (unsigned number = 1; number <= world_.scenario.doors; ++number) {
    doors_.push_back(std::make_unique<DoorHost>(world_, network_, number));
    network_.add_node(doors_.back()->front_end());
    world_.network.add_client(*doors_.back());
  }
  for (unsigned number = 1; number <= world_.scenario.naives; ++number) {
    users_.push_back(std::make_unique<NaiveUser>(world_, network_, number));
    network_.add_client(*users_.back());
  }
}

void Front::start() {
  for (const auto& door : doors_) door->start();
}

void Front::happen(const Event& event) {
  const TrueTime until = world_.agenda.now() + event.length;
  switch (event.deed) {
    case Deed::use:
      return users_[event.client - 1]->use(event);
    case Deed::leave:
      return users_[event.client - 1]->leave();
    case Deed::pause_door:
      return doors_[event.client - 1]->pause(until);
    case Deed::suspend_door:
      return doors_[event.client - 1]->suspend(until);
    case Deed::kill_door:
      return doors_[event.client - 1]->kill(event.length);
    default:
      return;
  }
}

void Front::calm_down(const Calm& calm) {
  network_.heal(calm);
  for (const auto& door : doors_) door->heal();
  for (const auto& user : users_) user->stop_wanting();
}

bool Front::is_busy() const {
  return std::any_of(doors_.begin(), doors_.end(),
                     [](const auto& door) { return door->is_busy(); });
}

std::size_t Front::commands() const {
  return std::accumulate(doors_.begin(), doors_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& door) { return sum + door->commands(); });
}

// A minority of nodes may have been out of reach for as long as a release is owed.
void Front::look_for_kept(const std::vector<std::string>& values) {
  std::map<std::string_view, unsigned> nodes;
  for (const std::string& value : values) ++nodes[value];
  for (const auto& [value, count] : nodes) {
    const auto door =
        world_.referee.refused_by(std::string(coordinator::read_record(value).payload));
    if (!door || 2 * count <= world_.scenario.nodes || doors_[*door - 1]->is_releasing()) continue;
    world_.referee.found(
        Breach::kept,
        fmt::format("{} nodes hold what door {} told its user that it did not get", count, *door));
  }
}

bool Front::probe_all(Duration ttl, const std::function<bool(Duration time)>& pass) {
  const coordinator::DoorTimes times{.acquire_time = world_.scenario.acquire_time,
                                     .reply_time = world_.scenario.reply_time,
                                     .clock_drift = world_.scenario.drift()};
  const Duration asked = coordinator::door_max_ttl(ttl, times);
  const Duration round_trip = 2 * (world_.scenario.delay_max + world_.scenario.turn_max);
  // The nodes take no TTL that is long enough, or have too little time to answer.
  if (asked < 1ms || times.acquire_time < round_trip) return true;
  const std::size_t pair = std::min<std::size_t>(users_.size(), 2);
  for (unsigned door = 1; door <= doors_.size(); ++door) {
    const auto give = [&](std::size_t count, unsigned form) {
      std::size_t given = 0;
      for (std::size_t user = 0; user < count; ++user) {
        users_[user]->probe(door, form, asked, [&](bool was_got) { given += was_got ? 1 : 0; });
      }
      if (!pass(kProbeTime)) return false;
      if (given == count) return true;
      world_.referee.found(
          Breach::not_free,
          fmt::format("door {} gives a free lock to {} of {} who want it", door, given, count));
      return false;
    };
    if (!give(1, 0)) return false;
    // Plain Redis servers give no tokens, and so nothing by LOCK.ACQUIRE.
    if (!world_.scenario.plain && !give(pair, form_in_line())) return false;
  }
  return true;
}

std::uint64_t Front::faults() const {
  std::uint64_t sum = 0;
  for (const auto& door : doors_) sum += door->faults();
  return sum;
}

std::uint64_t Front::acquired() const {
  std::uint64_t sum = 0;
  for (const auto& user : users_) sum += user->acquired();
  return sum;
}

std::uint64_t Front::extended() const {
  std::uint64_t sum = 0;
  for (const auto& user : users_) sum += user->extended();
  return sum;
}

}  // namespace redlock::simulation
