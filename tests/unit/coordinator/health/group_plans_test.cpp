// What `redlock group rescue` does with which nodes, and what an operator has to vouch for.
#include "coordinator/health/group_plans.h"

#include <bitset>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::coordinator;
using Catch::Contains;

namespace {

std::string id(char digit) {
  return std::string(40, digit);
}

// The nodes of a group of epoch 3, 'a' to 'e', of which those in `lost` have a new ledger.
std::vector<NodeState> nodes(unsigned lost, std::size_t count = 5) {
  GroupRoster roster{3, {}};
  std::vector<NodeState> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    const char digit = static_cast<char>('a' + i);
    const std::string address = fmt::format("node-{}:7000", digit);
    roster.members.push_back({address, id(digit), id(digit), 1});
    NodeState node;
    node.answer = {address, AnswerKind::yes, {}, {}};
    node.node_id = id(digit);
    node.ledger_id = (lost >> i & 1) != 0 ? id('9') : id(digit);
    node.ledger_id.back() = digit;
    node.fenced = (lost >> i & 1) == 0;
    node.counter = *node.fenced ? 100 + i : 0;
    node.bound = *node.fenced ? 1000 + 100 * i : 0;
    nodes.push_back(node);
  }
  for (NodeState& node : nodes) {
    if (*node.fenced) node.roster = roster;
  }
  return nodes;
}

std::string trouble(const std::vector<NodeState>& nodes, const OperatorsRescue& by_operator) {
  const auto plan = plan_rescue(nodes, by_operator);
  return plan ? "" : plan.error().text;
}

}  // namespace

TEST_CASE("whichever three of five ledgers are lost, tokens never fall and the others stay") {
  for (unsigned lost = 0; lost < 32; ++lost) {
    CAPTURE(lost);
    const std::size_t count = std::bitset<5>(lost).count();
    const auto those = nodes(lost);
    std::uint64_t bound = 0;  // the largest that is left
    for (const NodeState& node : those) bound = std::max(bound, *node.bound);
    if (count == 0) {
      CHECK(plan_rescue(those, {})->is_told);  // done already
      continue;
    }
    if (count < 3) {
      CHECK_THAT(trouble(those, {.floor = 5000}), Contains("nothing is to be rescued"));
      continue;
    }
    if (count == 5) continue;  // nobody knows the roster any more: see below
    CHECK_THAT(trouble(those, {}), Contains("--floor N is needed"));
    CHECK_THAT(trouble(those, {}), Contains(fmt::format("may have given more than {}", bound)));
    CHECK_THAT(trouble(those, {.floor = bound - 1}), Contains("tokens would come again"));
    const auto plan = plan_rescue(those, {.floor = bound});
    REQUIRE(plan);
    CHECK(plan->roster.epoch == 3 + kRescueLeap);
    CHECK(plan->is_new_group);
    for (std::size_t i = 0; i < 5; ++i) {
      const bool is_lost = (lost >> i & 1) != 0;
      CHECK(plan->roster.members[i].since == (is_lost ? plan->roster.epoch : 1));
      CHECK(plan->roster.members[i].ledger == those[i].ledger_id);
    }
  }
}

TEST_CASE("where fewer than a quorum lost theirs, the others tell the floor") {
  const auto four = nodes(0b1100, 4);  // a quorum is three
  const auto plan = plan_rescue(four, {});
  REQUIRE(plan);
  CHECK(plan->is_new_group);
  CHECK_THAT(trouble(four, {.floor = 1099}), Contains("tokens would come again"));
}

TEST_CASE("a member that is not there may vote in the old roster: it has to be said to be gone") {
  auto those = nodes(0b11100);
  those[4].node_id = id('f');  // another machine, with a node of its own
  those[4].answer.node = "node-f:7000";
  const std::uint64_t floor = 5000;
  CHECK_THAT(trouble(those, {.floor = floor}), Contains("--gone node-e:7000"));
  CHECK_THAT(trouble(those, {.gone = {"node-d:7000"}, .floor = floor}), Contains("--gone node-e"));
  CHECK(trouble(those, {.gone = {"node-e:7000"}, .floor = floor}).empty());
  CHECK(trouble(those, {.gone = {id('e')}, .floor = floor}).empty());
}

TEST_CASE("a rescue needs as many nodes as the group has, and all of them") {
  auto those = nodes(0b11100);
  those.pop_back();
  CHECK_THAT(trouble(those, {.floor = 5000}), Contains("5 members and 4 nodes are named"));
  those = nodes(0b11100);
  those[3].answer.kind = AnswerKind::timed_out;
  CHECK_THAT(trouble(those, {.floor = 5000}), Contains("node-d:7000 does not answer"));
}

TEST_CASE("a rescue that was ended on its way goes on where it was") {
  auto those = nodes(0b11100);
  const GroupRoster rescued = plan_rescue(those, {.floor = 5000})->roster;
  those[0].roster = those[2].roster = rescued;  // two were told
  auto plan = plan_rescue(those, {.floor = 5000});
  REQUIRE(plan);
  CHECK(plan->roster == rescued);
  CHECK_FALSE(plan->is_told);
  CHECK(plan->is_new_group);
  for (NodeState& node : those) node.roster = rescued;
  CHECK(plan_rescue(those, {.floor = 5000})->is_told);
  for (NodeState& node : those) node.fenced = true;  // and were admitted
  plan = plan_rescue(those, {});
  REQUIRE(plan);
  CHECK_FALSE(plan->is_new_group);
}

TEST_CASE("a first roster that can never be finished is made by an operator's word") {
  auto those = nodes(0b00000);
  for (NodeState& node : those) node.roster = {};
  const auto plan = plan_rescue(those, {});
  REQUIRE(plan);
  CHECK(plan->roster.epoch == kRescueLeap);
  CHECK_FALSE(plan->is_new_group);  // nobody joins: all stay fenced
  for (const GroupMember& member : plan->roster.members) CHECK(member.since == 1);
  for (NodeState& node : those) node.fenced = false;  // all ledgers lost
  CHECK_THAT(trouble(those, {}), Contains("--floor N is needed"));
}

TEST_CASE("nodes on one machine become a group, and one that lost its folder takes its own place") {
  auto those = nodes(0b00000);
  CHECK_FALSE(local_roster(those));  // there is nothing to do
  those = nodes(0b01010);
  for (const std::size_t lost : {1u, 3u}) those[lost].node_id = id('e' + char(lost));
  const auto second = local_roster(those);  // one at a time
  REQUIRE(second);
  CHECK(second->epoch == 4);
  CHECK(second->members[1].id == those[1].node_id);
  CHECK(second->members[1].since == 4);
  CHECK(second->members[3] == those[0].roster.members[3]);
  for (NodeState& node : those) node.roster = *second;
  CHECK(local_roster(those)->members[3].id == those[3].node_id);
  for (NodeState& node : those) node.roster = {};
  CHECK(local_roster(those)->epoch == 1);
  those[2].answer.kind = AnswerKind::timed_out;
  CHECK_FALSE(local_roster(those));
}
