#include "coordinator/health/counter_report.h"

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

using Side = FarCounter::Side;
using Counters = std::vector<std::optional<std::uint64_t>>;

constexpr std::uint64_t kGap = kLeapMax;
constexpr auto kMissing = std::nullopt;

NodeState fenced(std::uint64_t counter) {
  NodeState node{.answer = {}, .state = "serving"};
  node.counter = counter;
  node.fenced = true;
  return node;
}

NodeState unfenced(std::uint64_t counter) {
  NodeState node = fenced(counter);
  node.fenced = false;
  return node;
}

std::vector<NodeState> group(const Counters& counters) {
  std::vector<NodeState> states;
  for (const auto& counter : counters) {
    states.push_back(counter ? fenced(*counter) : NodeState{.answer = {}, .state = "no answer"});
  }
  return states;
}

// "2 above, 4 below": the places of the nodes that are named.
std::string named(const std::vector<NodeState>& states) {
  std::string text;
  for (const FarCounter& one : far_counters(states)) {
    text += (text.empty() ? "" : ", ") + std::to_string(one.node) +
            (one.side == Side::above ? " above" : " below");
  }
  return text;
}

bool tells_to_delete(const std::vector<NodeState>& states) {
  const auto far = far_counters(states);
  REQUIRE_FALSE(far.empty());
  return far[0].text.find("delete the ledger") != std::string::npos;
}

}  // namespace

TEST_CASE("counters that acquisitions made are not far from each other") {
  CHECK(named(group({7, 7, 7, 6, 1})).empty());
  CHECK(named(group({kGap + 7, 7, 7, 7, 7})).empty());
  CHECK(named(group({kGap + 7, kGap + 7, kGap + 7, 7, kMissing})).empty());
}

TEST_CASE("a counter more than 2^32 above what a quorum has reached is named") {
  const auto states = group({7, 7, 9007199254740991, 6, 5});
  CHECK(named(states) == "2 above");
  CHECK_THAT(far_counters(states)[0].text,
             Catch::Contains("its token counter, 9007199254740991, is far above 7"));
  CHECK(named(group({kGap + 8, 7, 7, 7, 7})) == "0 above");
  CHECK(named(group({kGap * 5, kGap * 5, 7, 7, 7})) == "0 above, 1 above");
}

TEST_CASE("a fenced node that lags by more than 2^32 is named") {
  CHECK(named(group({kGap + 8, kGap + 8, kGap + 8, kGap + 8, 7})) == "4 below");
  CHECK(named(group({kGap + 8, kGap + 8, kGap + 8, 7, 7})) == "3 below, 4 below");
}

TEST_CASE("what is not fenced has no part in it, and less than a quorum judges nobody") {
  auto states = group({7, 7, 7, 7});
  states.push_back(unfenced(kGap * 9));
  CHECK(named(states).empty());
  CHECK(named(group({kGap * 9, 7, kMissing, kMissing, kMissing})).empty());
  CHECK(named(group({kGap * 9})).empty());
  CHECK(named(group({kMissing, kMissing, kMissing})).empty());
}

TEST_CASE("a ledger is to be deleted only where no token can be lost with it, and all can go on") {
  CHECK(tells_to_delete(group({kGap * 9, 7, 7, 7, 7})));
  CHECK(tells_to_delete(group({kGap * 9, kGap * 9, 7, 7, 7})));
  CHECK(tells_to_delete(group({kGap * 9, 7, 7, 7, kMissing})));
  // Its number may be a token that the two missing nodes have accepted as well.
  CHECK_FALSE(tells_to_delete(group({kGap * 9, 7, 7, kMissing, kMissing, 7, kMissing})));
  CHECK_FALSE(tells_to_delete(group({kGap * 9, kGap * 9, 7, 7, kMissing, 7, kMissing})));
  // Without it too few are left to admit it.
  CHECK_FALSE(tells_to_delete(group({kGap * 9, 7, 7, kMissing, kMissing})));
  CHECK_FALSE(tells_to_delete(group({kGap * 9, kGap * 9, kGap * 9, 7, kMissing, kMissing, 7})));
  CHECK(tells_to_delete(group({kGap * 9, kGap * 9, kGap * 9, 7, 7})));
  CHECK(tells_to_delete(group({kGap * 9, kGap * 9, 7})));
  CHECK_FALSE(tells_to_delete(group({kGap * 9, 7, kMissing})));
}
