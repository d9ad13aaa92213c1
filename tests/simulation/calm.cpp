#include "tests/simulation/calm.h"

#include "coordinator/quorum/validity.h"

#include <algorithm>

namespace redlock::simulation {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr Duration kRounding = 1us;  // of clocks and parts
constexpr int kSyncsOfAnAnswer = 4;

Duration least_max_ttl(const Scenario& scenario) {
  Duration least = scenario.max_ttl;
  if (scenario.spare_max_ttl > 0ns) least = std::min(least, scenario.spare_max_ttl);
  for (const Event& event : scenario.events) {
    if (event.deed == Deed::set_max_ttl) least = std::min(least, event.delay);
  }
  return least;
}

// On the fastest client's clock. A question waits for the end of the turn that it comes in, and its
// answer for the end of its own.
Duration longest_answer(const Scenario& scenario) {
  const auto fastest = std::max_element(scenario.client_rates.begin(), scenario.client_rates.end());
  const Duration answer = 2 * (scenario.delay_max + scenario.turn_max);
  return answer + answer * *fastest / kMillion + kRounding;
}

// What three rounds share: a kept lock is extended a third of its TTL after it was got (keeper.h).
Duration longest_round(const Scenario& scenario, Duration ttl) {
  const Duration lost_after =
      ttl - coordinator::drift_allowance(ttl, scenario.drift()) - ttl / kNoticePart;
  return (lost_after - ttl / 3) / 3;
}

}  // namespace

Calm::Calm(const Scenario& scenario)
    : probe_ttl_(least_max_ttl(scenario)),
      sync_max_(
          std::min<Duration>(scenario.disk_sync_max, scenario.node_timeout / kSyncsOfAnAnswer)) {
  const Duration borne = std::min(scenario.node_timeout, longest_round(scenario, probe_ttl_));
  millionths_ = std::clamp(borne * kMillion / longest_answer(scenario), std::int64_t{0}, kMillion);
}

Duration Calm::shortened(Duration time) const {
  return time * millionths_ / kMillion;
}

}  // namespace redlock::simulation
