// The plan of clock jumps: what it promises, for many seeds.
#include "coordinator/drill/plan/clock_plan.h"

#include "tests/unit/coordinator/drill/plan/seeds.h"

#include <map>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

namespace redlock::drill {
namespace {

using Whom = PlannedFault::Whom;

PlanTerms terms_of(std::uint64_t seed, Duration length) {
  return {.seed = seed, .length = length, .ttl = 2s, .nodes = 5, .clients = 6};
}

TEST_CASE("every clock that jumps is right again at the end") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    std::map<std::pair<bool, std::size_t>, Duration> shifts;
    Duration last{0};
    for (const PlannedFault& fault : plan_clock_jumps(terms_of(seed, 60s))) {
      REQUIRE(fault.fault == Fault::jump);
      REQUIRE(fault.at >= last);
      last = fault.at;
      shifts[{fault.whom == Whom::node, fault.victim}] += fault.delay;
    }
    CHECK(last <= 60s);
    for (const auto& shift : shifts) CHECK(shift.second == 0s);
  }
}

TEST_CASE("the first jump takes a majority of the nodes ahead within a moment, beyond any lock") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    const auto plan = plan_clock_jumps(terms_of(seed, 6s));
    REQUIRE(!plan.empty());
    std::set<std::size_t> ahead;
    for (const PlannedFault& fault : plan) {
      if (fault.at > plan.front().at + 100ms) continue;
      REQUIRE(fault.whom == Whom::node);
      REQUIRE(fault.delay >= 1min);
      ahead.insert(fault.victim);
    }
    CHECK(ahead.size() == 3);
  }
}

}  // namespace
}  // namespace redlock::drill
