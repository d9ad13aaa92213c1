#include "coordinator/drill/plan/chaos_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::drill;

namespace {

using Plan = std::vector<PlannedFault>;
using Whom = PlannedFault::Whom;

std::string text_of(const Plan& plan) {
  std::string text;
  for (const PlannedFault& fault : plan) {
    text +=
        std::to_string(floor_ms(fault.at)) + (fault.whom == Whom::node ? " node " : " client ") +
        std::to_string(fault.victim) + " " + std::to_string(static_cast<int>(fault.fault)) + " " +
        std::to_string(static_cast<int>(fault.way)) + " " + std::to_string(floor_ms(fault.delay));
    for (const std::size_t client : fault.clients) text += " " + std::to_string(client);
    text += "\n";
  }
  return text;
}

Plan of_seed(std::uint64_t seed, Duration length = 10min) {
  return plan_faults({.seed = seed, .length = length});
}

std::ptrdiff_t harms(const Plan& plan, bool of_nodes) {
  return std::count_if(plan.begin(), plan.end(), [&](const PlannedFault& fault) {
    return (fault.whom == Whom::node) == of_nodes && begins_harm(fault.fault);
  });
}

// When each stop of a client was, and for how long.
std::vector<Duration> pauses(const Plan& plan) {
  std::map<std::size_t, Duration> since;
  std::vector<Duration> lengths;
  for (const PlannedFault& fault : plan) {
    if (fault.whom == Whom::node) continue;
    if (fault.fault == Fault::stop) since[fault.victim] = fault.at;
    if (fault.fault == Fault::resume) lengths.push_back(fault.at - since.at(fault.victim));
  }
  return lengths;
}

// The most nodes that are killed within so long.
std::size_t killed_within(const Plan& plan, Duration span) {
  std::size_t most = 0;
  for (const PlannedFault& first : plan) {
    std::set<std::size_t> nodes;
    for (const PlannedFault& fault : plan) {
      const bool is_near = fault.at >= first.at && fault.at <= first.at + span;
      if (is_near && fault.whom == Whom::node && fault.fault == Fault::kill)
        nodes.insert(fault.victim);
    }
    most = std::max(most, nodes.size());
  }
  return most;
}

// What ends a harm.
Fault end_of(Fault fault) {
  static const std::map<Fault, Fault> kEnds = {{Fault::kill, Fault::start},
                                               {Fault::stop, Fault::resume},
                                               {Fault::cut, Fault::heal},
                                               {Fault::slow, Fault::unslow}};
  return kEnds.at(fault);
}

}  // namespace

TEST_CASE("the same seed makes the same plan, another seed another one") {
  CHECK(text_of(of_seed(1)) == text_of(of_seed(1)));
  CHECK(text_of(of_seed(1)) != text_of(of_seed(2)));
}

TEST_CASE("ten minutes have what is asked of them, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    const Plan plan = of_seed(seed);
    CHECK(harms(plan, true) >= 200);
    const auto lengths = pauses(plan);
    const auto is_long = [](Duration length) { return length > 2s; };  // the TTL
    CHECK(std::count_if(lengths.begin(), lengths.end(), is_long) >= 40);
    CHECK(std::count_if(lengths.begin(), lengths.end(), std::not_fn(is_long)) >= 10);
    std::set<Fault> kinds;
    for (const PlannedFault& fault : plan) kinds.insert(fault.fault);
    CHECK(kinds.size() == 9);
  }
}

TEST_CASE("all nodes are killed within moments at least once, however short the drill") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    CHECK(killed_within(of_seed(seed, 2s), 100ms) == 5);
  }
}

TEST_CASE("with calm the nodes are left alone for seconds now and then, and never without") {
  const auto longest_calm = [](const Plan& plan) {
    Duration longest{0};
    Duration last{0};
    for (const PlannedFault& fault : plan) {
      if (fault.whom != Whom::node) continue;
      longest = std::max(longest, fault.at - last);
      last = fault.at;
    }
    return longest;
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    CHECK(longest_calm(of_seed(seed)) < 5s);
    const Plan with_calm = plan_faults_and_calm({.seed = seed, .length = 2min});
    CHECK(longest_calm(with_calm) >= 5s);
    CHECK(harms(with_calm, true) >= 20);
  }
}

TEST_CASE("doors are killed, stopped and slowed, and they are cut off in place of clients") {
  std::set<Fault> befallen;
  for (const PlannedFault& fault : plan_faults({.seed = 1, .length = 5min, .doors = 2})) {
    if (fault.whom == Whom::door) {
      CHECK(fault.victim < 2);
      befallen.insert(fault.fault);
    }
    if (fault.clients.empty()) continue;
    CHECK(fault.clients_are == Whom::door);
    CHECK(fault.clients.front() < 2);
    befallen.insert(fault.fault);
  }
  CHECK(befallen == std::set{Fault::kill, Fault::start, Fault::stop, Fault::resume, Fault::slow,
                             Fault::unslow, Fault::cut, Fault::heal});
}

TEST_CASE("a plan is in order, within its length, and ends every harm that it begins") {
  for (const Duration length : {Duration(1s), Duration(20s), Duration(5min)}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      INFO("seed " << seed << ", " << floor_ms(length) << " ms");
      std::set<std::tuple<Whom, std::size_t, Fault>> open;  // how they are to end
      Duration before{0};
      const PlanTerms terms = {.seed = seed, .length = length, .doors = seed % 3};
      for (const PlannedFault& fault : plan_faults(terms)) {
        CHECK(fault.at >= before);
        CHECK(fault.at <= length);
        before = fault.at;
        if (fault.fault == Fault::restart) continue;
        if (begins_harm(fault.fault)) {
          // Nothing befalls whom the same has befallen already.
          CHECK(open.insert({fault.whom, fault.victim, end_of(fault.fault)}).second);
        } else {
          CHECK(open.erase({fault.whom, fault.victim, fault.fault}) == 1);
        }
      }
      CHECK(open.empty());
    }
  }
}
