// Which group a list of addresses is of (rule G1): real coordinators at real nodes, some of them of
// another group.
#include "coordinator/results/errors.h"
#include "tests/support/roster_world.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::coordinator;
using Catch::Contains;

using Client = NodeWorld::Client;

namespace {

// Founders of another group: some of the nodes, and for each digit one that nobody meets.
Roster other_group(const std::vector<unsigned>& numbers, const std::string& digits) {
  Roster roster = RosterWorld::roster(1, numbers);
  for (const char digit : digits) {
    const std::string id(40, digit);
    roster.members.push_back({id, id, 1, fmt::format("other{}:6379", digit)});
  }
  return roster;
}

// As others know them.
Roster under_other_names(Roster roster) {
  for (RosterMember& member : roster.members) {
    member.address = RosterWorld::other_name_of(member.address);
  }
  return roster;
}

Roster five_under_other_names() {
  return under_other_names(RosterWorld::roster(1, {1, 2, 3, 4, 5}));
}

// In a group of nodes 1 to 5: one after the other by nodes 6, 7, and so on.
void replace(RosterWorld& world, Client& operator_, const std::vector<unsigned>& leaving) {
  std::vector<unsigned> members = {1, 2, 3, 4, 5};
  std::map<unsigned, std::uint64_t> since;
  std::uint64_t epoch = 1;
  for (const unsigned old : leaving) {
    const unsigned newcomer = members[old - 1] = 5 + static_cast<unsigned>(epoch);
    since[newcomer] = ++epoch;
    REQUIRE(world.change(operator_, RosterWorld::roster(epoch, members, since)).outcome ==
            RosterOutcome::chosen);
    world.pass(3min);
  }
}

}  // namespace

TEST_CASE("of a list with a node of another group most settle whose it is, not the first (G1)") {
  const bool is_known_otherwise = GENERATE(false, true);
  const bool hang = GENERATE(true, false);
  RosterWorld world(8);
  const Roster ours =
      is_known_otherwise ? five_under_other_names() : RosterWorld::roster(1, {1, 2, 3, 4, 5});
  world.make_group(ours);
  world.tell(6, other_group({6, 7, 8}, "67"));
  const auto set_away = [&](bool is_away) {
    for (const unsigned number : {1u, 2u, 3u, 4u}) {
      hang ? world.hang(number, is_away) : world.refuse(number, is_away);
    }
  };
  set_away(true);
  Client& client = world.new_client({1, 2, 6, 3, 4});
  for (int i = 0; i < 2; ++i) {
    const Instant asked = world.now();
    const AcquireResult early = world.acquire(client, "printer", 0s);
    CHECK(world.now() - asked < 600ms);  // a node timeout: there is nothing else to wait for
    CHECK(acquisition_error(client.group().nodes(), early).code == ErrorCode::no_quorum);
    world.pass(10s);
    CHECK(client.group().roster().roster.epoch == 0);
  }
  set_away(false);
  CHECK(is_acquired(world.acquire(client, "printer", 5s)));
  CHECK(client.group().roster().roster == ours);
  CHECK(world.node(6).locks().size() == 0);
}

TEST_CASE("a roster that names most of a list's addresses settles it at once (G1)") {
  RosterWorld world;
  world.make_group();
  for (const unsigned number : {2u, 3u, 4u, 5u}) world.hang(number);
  Client& client = world.new_client({1, 2, 3, 6, 7});
  world.pass(20ms);
  CHECK(client.group().roster().roster.epoch == 1);
}

TEST_CASE("a list that is refused stays so when a node of another group is met (G1)") {
  RosterWorld world;
  world.make_group();
  world.tell(6, other_group({6, 7}, "6"));
  Client& client = world.new_client({1, 2, 6});
  world.pass(3s);
  const AcquireResult refused = world.acquire(client, "printer", 0s);
  CHECK(acquisition_error(client.group().nodes(), refused).code == ErrorCode::other_group);
  CHECK(client.group().roster().roster.epoch == 0);
}

TEST_CASE("a smaller group that one wrong address tells refuses no list: the others may be away") {
  RosterWorld world;
  world.make_group();
  world.tell(6, other_group({6, 7}, "6"));
  for (const unsigned number : {1u, 2u, 3u, 4u}) world.hang(number);
  Client& client = world.new_client({1, 2, 3, 4, 6});
  const AcquireResult early = world.acquire(client, "printer", 1s);
  CHECK(acquisition_error(client.group().nodes(), early).code == ErrorCode::no_quorum);
  for (const unsigned number : {1u, 2u, 3u, 4u}) world.hang(number, false);
  CHECK(is_acquired(world.acquire(client, "printer", 2s)));
}

TEST_CASE("one address that leads to an old group is not enough for a list of others (G1)") {
  const bool have_roster = GENERATE(false, true);
  RosterWorld world(8);
  if (have_roster) world.make_group();
  Roster late = other_group({6, 7, 8}, "67");  // no founder is left, and five have joined since
  late.epoch = 6;
  for (std::size_t i = 0; i < late.members.size(); ++i) late.members[i].since = i + 2;
  world.tell(6, late);
  if (have_roster) {
    for (const unsigned number : {1u, 2u, 3u, 4u}) world.refuse(number);
  }
  Client& client = world.new_client({1, 2, 3, 4, 6, 6});
  world.pass(20s);
  CHECK(client.group().roster().roster.epoch == 0);
}

TEST_CASE("a list's nodes may be known by other names: most of them tell whose it is (G1)") {
  RosterWorld world;
  world.make_group(five_under_other_names());
  const Instant asked = world.now();
  Client& client = world.new_client({5, 4, 3, 2, 1});
  CHECK(is_acquired(world.acquire(client, "printer", 0s)));
  CHECK(world.now() - asked < 100ms);
  for (const unsigned number : {1u, 2u, 3u}) world.refuse(number);
  Client& late = world.new_client({1, 2, 3, 4, 5});
  const AcquireResult refused = world.acquire(late, "scanner", 1s);
  CHECK(acquisition_error(late.group().nodes(), refused).code == ErrorCode::no_quorum);
  CHECK(late.group().roster().roster.epoch == 0);
  CHECK_THAT(late.group().link(4).problem().text,
             Contains("(epoch 1) that too few of the 5 nodes named are known to belong to"));
  world.refuse(2, false);
  CHECK(is_acquired(world.acquire(late, "scanner", 5s)));
}

TEST_CASE("an old list whose nodes have gone but two comes to the group, also if they hang (G7)") {
  const unsigned first_that_hangs = GENERATE(3u, 5u, 6u);
  RosterWorld world(8);
  replace(world, world.make_group(), {3, 4, 5});
  for (const unsigned gone : {3u, 4u, 5u}) {
    gone >= first_that_hangs ? world.hang(gone) : world.refuse(gone);
  }
  Client& old = world.new_client({1, 2, 3, 4, 5});
  world.pass(20ms);  // whoever hangs may yet answer
  CHECK((old.group().roster().roster.epoch > 0) == (first_that_hangs > 5));
  CHECK(is_acquired(world.acquire(old, "printer", 1s)));
  CHECK(old.group().roster().roster.epoch == 4);
}

TEST_CASE("nodes of a list that know its roster by different epochs agree on whose it is (G1)") {
  RosterWorld world;
  Client& founder = world.make_group(five_under_other_names());
  for (const unsigned number : {4u, 5u}) world.refuse(number);
  const Roster second = under_other_names(RosterWorld::roster(2, {1, 2, 3, 4, 5, 6}, {{6, 2}}));
  REQUIRE(world.change(founder, second).outcome == RosterOutcome::chosen);
  for (const unsigned number : {1u, 2u}) world.refuse(number);
  for (const unsigned number : {4u, 5u}) world.refuse(number, false);
  Client& client = world.new_client({1, 2, 3, 4, 5});
  world.pass(20ms);
  CHECK(client.group().roster().roster.epoch > 0);
  for (const unsigned number : {1u, 2u}) world.refuse(number, false);
  CHECK(is_acquired(world.acquire(client, "printer", 10s)));
  CHECK(client.group().roster().roster == second);
}

TEST_CASE("with a first roster a list's addresses stay, also where nobody was met yet (G7)") {
  RosterWorld world;
  const Roster ours = five_under_other_names();
  world.make_group(ours);
  world.refuse(4);
  world.hang(5);
  Client& client = world.new_client({1, 2, 3, 4, 5});
  const std::vector<std::string> list = names(client);
  REQUIRE(world.run_until([&] { return client.group().roster().roster == ours; }, 1s));
  CHECK(names(client) == list);
}

TEST_CASE("an old list of which one node tells its group and one another is no group's yet (G1)") {
  RosterWorld world(8);
  replace(world, world.make_group(), {2, 3, 4});
  world.lose_ledger(4, 0ns);
  world.tell(4, other_group({4}, "6789"));
  for (const unsigned number : {2u, 3u, 5u}) world.refuse(number);
  Client& client = world.new_client({1, 2, 3, 4, 5});
  world.pass(10s);
  CHECK(client.group().roster().roster.epoch == 0);
  world.refuse(5, false);
  CHECK(is_acquired(world.acquire(client, "printer", 5s)));
  CHECK(client.group().roster().roster.epoch == 4);
}

TEST_CASE("a group that a minority of a list tells is not gone by, the others being of none (G1)") {
  RosterWorld world(8);
  world.tell(1, other_group({1}, "6789"));
  Client& client = world.new_client({1, 2, 3, 4, 5});
  world.pass(100ms);
  CHECK_THAT(client.group().link(0).problem().text, Contains("too few of the 5 nodes named"));
  CHECK(client.group().ready_links() == 4);
}
