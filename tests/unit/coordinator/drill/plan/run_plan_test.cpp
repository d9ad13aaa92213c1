// The plan of `redlock drill run`: what it promises, for many seeds.
#include "coordinator/drill/plan/run_plan.h"

#include "tests/unit/coordinator/drill/plan/seeds.h"

#include <map>
#include <set>

#include <catch2/catch.hpp>

namespace redlock::drill {
namespace {

using Part = PlannedFault::Part;
using Whom = PlannedFault::Whom;

std::vector<PlannedFault> plan_of(std::uint64_t seed, Duration length) {
  return plan_run_faults({.seed = seed, .length = length, .ttl = 2s, .clients = 16});
}

TEST_CASE("first of all loops alone are stopped, for longer than any lock lives") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    std::map<std::size_t, Duration> stopped;
    for (const PlannedFault& fault : plan_of(seed, 8s)) {
      if (fault.whom == Whom::node || fault.part != Part::loop) continue;
      if (fault.fault == Fault::stop) stopped.emplace(fault.victim, fault.at);
      if (fault.fault != Fault::resume) continue;
      CHECK(fault.at - stopped.at(fault.victim) > 2s);
      CHECK_FALSE(fault.once_overtaken);
    }
    CHECK(stopped.size() >= 4);
  }
}

TEST_CASE(
    "loop, guard and both are killed and stopped, and whoever was stopped with both goes on "
    "once it was overtaken") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    std::set<std::pair<Fault, Part>> done;
    for (const PlannedFault& fault : plan_of(seed, 2min)) {
      if (fault.whom == Whom::node || !is_of_process(fault.fault)) continue;
      if (fault.fault == Fault::resume) CHECK(fault.once_overtaken == (fault.part == Part::all));
      done.emplace(fault.fault, fault.part);
    }
    for (const Part part : {Part::loop, Part::guard, Part::all}) {
      CHECK(done.count({Fault::kill, part}) == 1);
      CHECK(done.count({Fault::stop, part}) == 1);
    }
  }
}

}  // namespace
}  // namespace redlock::drill
