// The plan of partitions: what it promises, for many seeds.
#include "coordinator/drill/plan/partition_plan.h"

#include "tests/unit/coordinator/drill/plan/seeds.h"

#include <algorithm>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

namespace redlock::drill {
namespace {

constexpr std::size_t kQuorum = 3;  // of five

PlanTerms terms_of(std::uint64_t seed) {
  return {.seed = seed, .length = 60s, .ttl = 2s, .nodes = 5, .clients = 6};
}

// Who is cut off from whom while a plan goes on: pairs of a node and a client.
class Cuts {
 public:
  void befall(const PlannedFault& fault) {
    for (std::size_t client = 0; client < 6; ++client) {
      const bool is_meant = fault.clients.empty() ||
                            std::count(fault.clients.begin(), fault.clients.end(), client) > 0;
      if (!is_meant) continue;
      if (fault.fault == Fault::cut) cut_.emplace(fault.victim, client);
      if (fault.fault == Fault::heal) cut_.erase({fault.victim, client});
    }
  }
  bool none() const { return cut_.empty(); }
  std::size_t nodes_of(std::size_t client) const {
    std::size_t nodes = 5;
    for (const auto& [node, from] : cut_) nodes -= from == client ? 1U : 0U;
    return nodes;
  }
  std::size_t without_quorum() const {
    std::size_t count = 0;
    for (std::size_t client = 0; client < 6; ++client)
      count += nodes_of(client) < kQuorum ? 1U : 0U;
    return count;
  }

 private:
  std::set<std::pair<std::size_t, std::size_t>> cut_;
};

TEST_CASE("the same seed makes the same plan, and another one another") {
  const auto one = plan_partitions(terms_of(1));
  const auto again = plan_partitions(terms_of(1));
  const auto other = plan_partitions(terms_of(2));
  const auto times = [](const std::vector<PlannedFault>& plan) {
    std::vector<std::pair<Duration, std::size_t>> told;
    for (const PlannedFault& fault : plan) told.emplace_back(fault.at, fault.victim);
    return told;
  };
  CHECK(times(one) == times(again));
  CHECK(times(one) != times(other));
}

TEST_CASE("whatever is cut or slowed is whole again at the end, and there is always a way on") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    Cuts cuts;
    std::set<std::size_t> slowed;
    Duration last{0};
    for (const PlannedFault& fault : plan_partitions(terms_of(seed))) {
      REQUIRE(fault.at >= last);
      last = fault.at;
      cuts.befall(fault);
      if (fault.fault == Fault::slow) slowed.insert(fault.victim);
      if (fault.fault == Fault::unslow) slowed.erase(fault.victim);
      REQUIRE(cuts.without_quorum() <= 3);  // of six clients
      REQUIRE(slowed.size() <= 2);
    }
    CHECK(last <= 60s);
    CHECK(cuts.none());
    CHECK(slowed.empty());
  }
}

TEST_CASE("a node that is cut off is not cut off once more before it is healed") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    std::set<std::size_t> cut;
    for (const PlannedFault& fault : plan_partitions(terms_of(seed))) {
      if (fault.fault == Fault::cut) REQUIRE(cut.insert(fault.victim).second);
      if (fault.fault == Fault::heal) REQUIRE(cut.erase(fault.victim) == 1);
    }
  }
}

TEST_CASE("a drill of six seconds has a split: each client sees one side alone") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    PlanTerms terms = terms_of(seed);
    terms.length = 6s;
    Cuts cuts;
    const auto plan = plan_partitions(terms);
    REQUIRE(!plan.empty());
    for (const PlannedFault& fault : plan) {
      if (fault.at == plan.front().at) cuts.befall(fault);
    }
    CHECK(cuts.without_quorum() >= 1);
    for (std::size_t client = 0; client < 6; ++client) {
      CHECK((cuts.nodes_of(client) == 2 || cuts.nodes_of(client) == 3));
    }
  }
}

}  // namespace
}  // namespace redlock::drill
