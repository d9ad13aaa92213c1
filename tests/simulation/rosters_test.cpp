// What the simulator says of a group's rosters.
#include "tests/simulation/generator.h"
#include "tests/simulation/roster_judge.h"
#include "tests/simulation/world.h"

#include <catch2/catch.hpp>

namespace redlock::simulation {
namespace {

using std::chrono::seconds;

std::string id_of(unsigned node) {
  return std::string(kNodeIdDigits, static_cast<char>('a' + node - 1));
}

Roster roster(std::uint64_t epoch, const std::vector<unsigned>& nodes, std::uint64_t last_since) {
  Roster roster{epoch, {}};
  for (const unsigned node : nodes) {
    roster.members.push_back({id_of(node), id_of(node), 1, node_name(node)});
  }
  roster.members.back().since = last_since;
  return roster;
}

const Roster kFirst = roster(1, {1, 2, 3}, 1);

struct Judged {
  Agenda agenda;
  Story story{Story::Telling::nothing};
  Referee referee{agenda, story};
  RosterJudge judge{agenda, story, referee};

  void accepts(unsigned node, const Roster& from, const Roster& next, std::uint64_t ballot) {
    judge.note(node, {id_of(node), id_of(node), 1, node_name(node)},
               {.current = from, .accepted_ballot = {ballot, 1}, .accepted = next});
  }
  void make_first() {
    for (const unsigned node : {1U, 2U, 3U}) accepts(node, {}, kFirst, 1);
  }
  std::optional<Breach> breach() const {
    if (!referee.violation()) return std::nullopt;
    return referee.violation()->breach;
  }
};

TEST_CASE("a first roster is chosen by all of its members, a later one by a quorum") {
  Judged world;
  world.accepts(1, {}, kFirst, 1);
  world.accepts(2, {}, kFirst, 1);
  CHECK(world.judge.newest().epoch == 0);
  world.accepts(3, {}, kFirst, 1);
  CHECK(world.judge.newest() == kFirst);
  const Roster second = roster(2, {1, 2, 4}, 2);
  world.accepts(1, kFirst, second, 1);
  world.accepts(4, kFirst, second, 1);  // is no member, and no acceptor
  CHECK(world.judge.newest() == kFirst);
  world.accepts(2, kFirst, second, 1);
  CHECK(world.judge.newest() == second);
  CHECK_FALSE(world.breach());
}

TEST_CASE("two rosters of one epoch are found, and one that was taken over too early") {
  Judged world;
  world.make_first();
  const Roster second = roster(2, {1, 2, 4}, 2);
  SECTION("two") {
    world.accepts(1, kFirst, second, 1);
    world.accepts(2, kFirst, second, 1);
    const Roster other = roster(2, {1, 2, 5}, 2);
    world.accepts(2, kFirst, other, 2);
    CHECK_FALSE(world.breach());
    world.accepts(3, kFirst, other, 2);
    CHECK(world.breach() == Breach::two_rosters);
  }
  SECTION("too early") {
    world.accepts(1, kFirst, second, 1);
    world.judge.note_taken_over("client 1", kFirst);
    CHECK_FALSE(world.breach());
    world.judge.note_taken_over("client 1", second);
    CHECK(world.breach() == Breach::unchosen);
  }
  SECTION("two members at once") {
    const Roster jump = roster(2, {1, 4, 5}, 2);
    world.accepts(1, kFirst, jump, 1);
    world.accepts(2, kFirst, jump, 1);
    CHECK(world.breach() == Breach::no_successor);
  }
}

// Two clients, three members and a spare one.
Scenario quiet_group() {
  Scenario scenario;
  scenario.nodes = 4;
  scenario.members = 3;
  scenario.clients = 2;
  scenario.node_rates.assign(scenario.nodes, 0);
  scenario.client_rates.assign(scenario.clients, 0);
  scenario.max_ttl = seconds(2);
  scenario.length = seconds(8);
  scenario.events.push_back({.at = TrueTime(100ms), .deed = Deed::change, .client = 1});
  scenario.events.push_back(
      {.at = TrueTime(1s), .deed = Deed::change, .client = 1, .node = 4, .other = 3});
  return scenario;
}

TEST_CASE("a member is replaced, and whoever was not told goes by the new roster in the end") {
  const Outcome outcome = run(quiet_group(), Story::Telling::events);
  CHECK_FALSE(outcome.violation);
  CHECK_FALSE(outcome.is_stuck);
  const auto is_told = [&](std::string_view what) {
    return std::any_of(outcome.story.begin(), outcome.story.end(), [what](const std::string& line) {
      return line.find(what) != std::string::npos;
    });
  };
  CHECK(is_told("epoch 1: node1+ node2+ node3+ is chosen"));
  CHECK(is_told("epoch 2: node1 node2 node4+ is chosen"));
}

TEST_CASE("a group whose ledgers are gone is told apart from one that is behind") {
  Scenario scenario = quiet_group();
  scenario.events.pop_back();
  for (const unsigned node : {1U, 2U}) {
    scenario.events.push_back(
        {.at = TrueTime(3s), .deed = Deed::lose_disk, .node = node, .length = 50ms});
  }
  const Outcome outcome = run(scenario, Story::Telling::nothing);
  CHECK_FALSE(outcome.violation);
  CHECK(outcome.is_stuck);
}

TEST_CASE("scenarios with rosters are drawn from chances of their own, and can be written") {
  Mix mix;
  mix.faults = faults_of(true);
  const auto is_of_rosters = [](const Event& event) { return event.deed >= kFirstRosterDeed; };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Scenario plain = make_scenario(seed, mix);
    CHECK(plain.members == 0);
    CHECK(std::none_of(plain.events.begin(), plain.events.end(), is_of_rosters));
    Mix with_rosters = mix;
    with_rosters.rosters = true;
    const Scenario scenario = make_scenario(seed, with_rosters);
    CHECK(scenario.members == plain.nodes);
    CHECK(std::any_of(scenario.events.begin(), scenario.events.end(), is_of_rosters));
    const auto read = read_scenario(write_scenario(scenario));
    REQUIRE(read);
    CHECK(*read == scenario);
  }
}

}  // namespace
}  // namespace redlock::simulation
