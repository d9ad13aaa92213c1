// How a group comes to its next roster, from real coordinators at real nodes (rules G).
#include "tests/support/roster_world.h"

#include <array>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

using Catch::Contains;
using Client = NodeWorld::Client;

TEST_CASE("of two first rosters that share nodes one is made, and the other says so") {
  RosterWorld world;
  Client& one = world.new_client({1, 2, 3, 4, 5});
  Client& other = world.new_client({3, 4, 5, 6, 7});
  world.pass(20ms);
  std::optional<ChangeResult> of_one;
  std::optional<ChangeResult> of_other;
  one.group().change(RosterWorld::roster(1, {1, 2, 3, 4, 5}), world.now(),
                     [&](ChangeResult got) { of_one = std::move(got); });
  other.group().change(RosterWorld::roster(1, {3, 4, 5, 6, 7}), world.now(),
                       [&](ChangeResult got) { of_other = std::move(got); });
  REQUIRE(world.run_until([&] { return of_one && of_other; }, 30s));
  const int chosen = (of_one->outcome == RosterOutcome::chosen ? 1 : 0) +
                     (of_other->outcome == RosterOutcome::chosen ? 1 : 0);
  CHECK(chosen <= 1);
  world.pass(1s);
  CHECK((world.epoch_of(1) == 1) + (world.epoch_of(7) == 1) == chosen);
}

TEST_CASE("a change that is begun before its nodes are met begins when they are (G4)") {
  RosterWorld world;
  world.make_group();
  Client& early = world.new_client({1, 2, 3, 4, 5});
  const Instant began = world.now();
  CHECK(world.change(early, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
        RosterOutcome::chosen);
  CHECK(world.now() - began < 100ms);
}

TEST_CASE("who cannot be met has no word in a change, and holds none up for longer than it may") {
  RosterWorld world;
  world.make_group();
  world.hang(5);
  Client& early = world.new_client({1, 2, 3, 4, 5});
  const Instant began = world.now();
  CHECK(world.change(early, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
        RosterOutcome::chosen);
  // Until it begins, and for who is to be told of it.
  CHECK(world.now() - began <= 2 * early.group().options().node_timeout + 20ms);
}

TEST_CASE("a first roster that was begun is finished by who names all of its nodes alone") {
  RosterWorld world;
  const Roster first = RosterWorld::roster(1, {1, 2, 3});
  for (const unsigned number : {1u, 2u, 3u}) {
    auto& membership = world.node(number).membership();
    const auto step = membership.accept({1, 99}, first, world.now());
    REQUIRE(step.wanted);
    world.node(number).coverage().cover_roster(*step.wanted, world.now());
  }
  Client& part = world.new_client({1, 2});
  world.pass(20ms);
  CHECK(world.change(part, RosterWorld::roster(1, {1, 2})).outcome == RosterOutcome::other_group);
  CHECK(part.group().roster().roster.epoch == 0);
  CHECK(world.epoch_of(1) == 0);
  Client& whole = world.new_client({1, 2, 3});
  world.pass(20ms);
  CHECK(world.change(whole, RosterWorld::roster(1, {3, 2, 1})).outcome == RosterOutcome::chosen);
  CHECK(whole.group().roster().roster == first);
  Client& other = world.new_client({4, 5});  // nothing of it is known there
  world.pass(20ms);
  CHECK(world.change(other, RosterWorld::roster(1, {4, 5})).outcome == RosterOutcome::chosen);
}

TEST_CASE("a node is replaced: whoever was told by nobody goes on with the new one (G2)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  Client& worker = world.new_client({1, 2, 3, 4, 5});
  AcquireResult held = world.acquire(worker, "printer");
  REQUIRE(is_acquired(held));
  const auto result = world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}}));
  CHECK(result.outcome == RosterOutcome::chosen);
  CHECK(names(operator_) == std::vector<std::string>{"node1:6379", "node2:6379", "node3:6379",
                                                     "node4:6379", "node6:6379"});
  world.pass(1s);
  CHECK(world.epoch_of(6) == 2);
  CHECK(world.epoch_of(5) == 2);
  CHECK(world.node(6).grants().is_recovering(world.now()));
  world.extend(worker, held.lock);  // it learns of the change by it
  world.pass(1s);
  CHECK(world.extend(worker, held.lock) == ExtensionOutcome::extended);
  CHECK(names(worker) == names(operator_));
  CHECK(is_acquired(world.acquire(worker, "scanner")));
  world.pass(2min);
  CHECK(world.node(6).grants().fence().is_fenced());  // admitted by whoever met it
  world.refuse(1);
  world.refuse(2);
  const AcquireResult later = world.acquire(worker, "third");
  CHECK(is_acquired(later));  // by 3, 4 and 6
  CHECK(world.node(6).locks().find("third", world.now()) != nullptr);
}

TEST_CASE("a node that was replaced while it was away grants nothing when it is back (G5)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  world.refuse(5);
  CHECK(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
        RosterOutcome::chosen);
  world.refuse(5, false);
  CHECK(world.epoch_of(5) == 1);
  Client& stale = world.new_client({1, 2, 3, 4, 5});  // yesterday's list
  CHECK(is_acquired(world.acquire(stale, "printer", 10s)));
  CHECK(world.node(5).locks().find("printer", world.now()) == nullptr);
  world.pass(5s);
  CHECK(names(stale) == names(operator_));
}

TEST_CASE("a group grows and shrinks by one, and every client follows (G3)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  Client& worker = world.new_client({1, 2, 3, 4, 5});
  AcquireResult held = world.acquire(worker, "printer");
  CHECK(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 5, 6}, {{6, 2}})).outcome ==
        RosterOutcome::chosen);
  world.extend(worker, held.lock);
  world.pass(500ms);
  CHECK(world.extend(worker, held.lock) == ExtensionOutcome::extended);
  CHECK(names(worker).size() == 6);
  const Roster third = RosterWorld::roster(3, {2, 3, 4, 5, 6}, {{6, 2}});
  const auto early = world.change(operator_, third);
  CHECK(early.outcome == RosterOutcome::early);
  CHECK(early.wait > 0ns);
  world.pass(early.wait);
  CHECK(world.change(operator_, third).outcome == RosterOutcome::chosen);
  CHECK(names(operator_).size() == 5);
  CHECK(is_acquired(world.acquire(worker, "scanner", 5s)));
  CHECK(names(worker).size() == 5);
  CHECK(world.node(1).locks().find("scanner", world.now()) == nullptr);
}

TEST_CASE("two operators at once: both end with one roster (G2)") {
  RosterWorld world;
  Client& one = world.make_group();
  Client& other = world.new_client({1, 2, 3, 4, 5});
  world.pass(50ms);
  std::optional<ChangeResult> of_one;
  std::optional<ChangeResult> of_other;
  one.group().change(RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}}), world.now(),
                     [&](ChangeResult got) { of_one = std::move(got); });
  other.group().change(RosterWorld::roster(2, {1, 2, 3, 4, 7}, {{7, 2}}), world.now(),
                       [&](ChangeResult got) { of_other = std::move(got); });
  REQUIRE(world.run_until([&] { return of_one && of_other; }, 30s));
  world.pass(2s);
  CHECK(is_acquired(world.acquire(one, "printer")));
  CHECK(is_acquired(world.acquire(other, "scanner")));
  CHECK(one.group().roster().roster == other.group().roster().roster);
  CHECK(world.epoch_of(6) + world.epoch_of(7) == 2);
}

TEST_CASE("a change that a hung node keeps open to its time is gone by when that is over (G2)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  world.hang(3);
  CHECK(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
        RosterOutcome::chosen);
  CHECK(operator_.group().roster().roster.epoch == 2);
}

TEST_CASE("a change that its operator left half done is finished by whoever meets it (G2)") {
  RosterWorld world;
  Client& worker = world.make_group();
  world.pass(2s);  // who met nothing has nothing to finish
  const RosterBallot ballot{1, 99};
  const Roster second = RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}});
  for (const unsigned number : {1u, 2u}) {  // two of five have accepted: it may yet be chosen
    auto& membership = world.node(number).membership();
    const auto step = membership.accept(ballot, second, world.now());
    REQUIRE(step.wanted);
    world.node(number).coverage().cover_roster(*step.wanted, world.now());
  }
  world.pass(10ms);
  CHECK(is_acquired(world.acquire(worker, "printer")));  // by 3, 4 and 5
  world.pass(3s);
  CHECK(worker.group().roster().roster == second);
  CHECK(is_acquired(world.acquire(worker, "scanner")));
}

TEST_CASE("a member that lost its ledger is named anew, waits, and votes again (G4)") {
  RosterWorld world;
  Client& worker = world.make_group();
  REQUIRE(is_acquired(world.acquire(worker, "printer")));
  world.lose_ledger(5, 60s);
  world.pass(50ms);
  std::optional<std::vector<NodeFinding>> findings;
  worker.group().survey(std::array{RequestKind::status}, "", world.now(),
                        [&](std::vector<NodeFinding> got) { findings = std::move(got); });
  REQUIRE(world.run_until([&] { return findings.has_value(); }, 100ms));
  CHECK((*findings)[4].answer.text == kLostItsLedger);
  world.pass(5s);
  const Roster& now_chosen = worker.group().roster().roster;
  CHECK(now_chosen.epoch == 2);
  CHECK(now_chosen.find(NodeWorld::id_of(5), std::string(40, '5')) != nullptr);
  CHECK(world.node(5).grants().is_recovering(world.now()));
  CHECK(world.node(5).membership().standing() == server::Membership::Standing::member);
  world.pass(3min);
  CHECK(world.node(5).grants().fence().is_fenced());
  world.refuse(1);
  world.refuse(2);
  CHECK(is_acquired(world.acquire(worker, "scanner")));
}

TEST_CASE("who joins is told the floor with its roster, and gives tokens from it on (F9)") {
  RosterWorld world;
  Client& worker = world.make_group();
  for (int i = 0; i < 10; ++i) {
    world.release(worker, world.acquire(worker, "printer").lock);
  }
  const Token given = world.node(1).grants().fence().largest();
  const auto result = world.change(worker, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}}));
  REQUIRE(result.outcome == RosterOutcome::chosen);
  world.pass(100ms);
  CHECK(world.node(6).grants().fence().is_fenced());
  CHECK(world.node(6).grants().fence().largest() >= given);
  CHECK(world.node(6).ledger().record().fencing_bound > given);
  CHECK(world.node(6).membership().record().floor >= given);
}

TEST_CASE("tokens rise where a group is made smaller twice (F9)") {
  RosterWorld world;
  Client& worker = world.make_group();
  world.refuse(4);
  world.refuse(5);
  Token last = 0;
  for (int i = 0; i < 5; ++i) {  // 1, 2 and 3 alone know these
    const AcquireResult taken = world.acquire(worker, "printer");
    REQUIRE(is_acquired(taken));
    CHECK(taken.lock.token > last);
    last = taken.lock.token;
    world.release(worker, taken.lock);
  }
  world.refuse(4, false);
  world.refuse(5, false);
  REQUIRE(world.change(worker, RosterWorld::roster(2, {2, 3, 4, 5})).outcome ==
          RosterOutcome::chosen);
  world.pass(2min);  // rule G3
  REQUIRE(world.change(worker, RosterWorld::roster(3, {3, 4, 5})).outcome == RosterOutcome::chosen);
  world.refuse(3);
  const AcquireResult taken = world.acquire(worker, "printer");
  REQUIRE(is_acquired(taken));  // by 4 and 5
  CHECK(taken.lock.token > last);
}

TEST_CASE("a change that only one member knows of is finished, whichever quorum answers (G2)") {
  RosterWorld world;
  Client& worker = world.make_group();
  const RosterBallot ballot{1, 99};
  const Roster second = RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}});
  const auto step = world.node(5).membership().accept(ballot, second, world.now());
  REQUIRE(step.wanted);
  world.node(5).coverage().cover_roster(*step.wanted, world.now());
  world.pass(10ms);
  CHECK(is_acquired(world.acquire(worker, "printer")));  // 5 refuses its vote, and is met anew
  world.pass(5s);  // 1, 2 and 3 promise first, and know of nothing
  CHECK(worker.group().roster().roster == second);
}

TEST_CASE("a change that was met too early is finished when its time has come (G2, G3)") {
  RosterWorld world;
  Client& worker = world.make_group();
  REQUIRE(world.change(worker, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
          RosterOutcome::chosen);
  // At node 1 the time for the next has come: it was told of this one long before the others.
  const Roster third = RosterWorld::roster(3, {1, 2, 3, 4, 7}, {{7, 3}});
  auto& membership = world.node(1).membership();
  const auto step = membership.accept({1, 99}, third, later(world.now(), 5min));
  REQUIRE(step.wanted);
  world.node(1).coverage().cover_roster(*step.wanted, world.now());
  CHECK(is_acquired(world.acquire(worker, "printer")));  // 1 refuses its vote, and is met anew
  const std::uint64_t asked = world.node(3).stats().commands_processed;
  world.pass(10s);
  CHECK(worker.group().roster().roster.epoch == 2);
  // The change was tried once and told how long it is early, though 1 is met again and again.
  CHECK(world.node(3).stats().commands_processed - asked <= 3);
  world.pass(5min);
  CHECK(worker.group().roster().roster == third);
}

TEST_CASE("a change that is late ends no connection") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  world.pass(1s);
  const std::uint64_t connection = operator_.group().link(0).connection();
  const Instant began = world.now();
  CHECK(world.change(operator_, RosterWorld::roster(1, {1, 2, 3, 4, 6})).outcome ==
        RosterOutcome::superseded);
  CHECK(world.now() - began < 100ms);  // all nodes were met
  CHECK(operator_.group().link(0).connection() == connection);
  CHECK(operator_.group().link(0).is_ready());
}

TEST_CASE("a rescue tells all nodes a roster that nobody chose; who is named anew waits (G8)") {
  RosterWorld world;
  world.make_group();
  world.settings(1).max_ttl = 1h;  // it may have granted for so long
  Client& operator_ = world.new_client({1, 2, 3, 4, 5});
  world.pass(20ms);
  const Roster rescued =
      RosterWorld::roster(1001, {1, 2, 3, 4, 5}, {{3, 1001}, {4, 1001}, {5, 1001}});
  std::optional<ChangeResult> result;
  operator_.group().rescue(rescued, world.now(),
                           [&](ChangeResult got) { result = std::move(got); });
  REQUIRE(world.run_until([&] { return result.has_value(); }, 10s));
  CHECK(result->outcome == RosterOutcome::chosen);
  for (const unsigned number : {1u, 2u, 3u, 4u, 5u}) CHECK(world.epoch_of(number) == 1001);
  CHECK(world.node(5).membership().record().longest == 1h);
  CHECK(world.node(5).grants().delay_left(world.now()) > 59min);
  CHECK_FALSE(world.node(5).grants().fence().is_fenced());
  world.pass(10ms);
  CHECK(operator_.group().roster().roster == rescued);
}

TEST_CASE("a node of another group at a member's address takes nobody with it (G1)") {
  RosterWorld world;
  Client& holder = world.make_group();
  REQUIRE(is_acquired(world.acquire(holder, "printer")));
  world.lose_ledger(5, 0ns);
  world.tell(5, RosterWorld::roster(7, {5, 6, 7}, {{5, 7}}));
  Client& running = world.new_client({1, 2, 3, 4, 5});
  world.pass(2s);
  for (Client* client : {&holder, &running}) {
    CHECK(client->group().roster().roster.epoch == 1);
    CHECK_THAT(client->group().link(4).problem().text,
               Contains("of another group (epoch 7), not of this one (epoch 1)"));
  }
  CHECK(world.acquire(running, "printer").outcome == AcquisitionOutcome::held);
  for (const unsigned number : {1u, 2u, 3u, 4u}) CHECK(world.epoch_of(number) == 1);
}

TEST_CASE(
    "a node that was away while all others came takes a roster that names it, no other (G1)") {
  RosterWorld world;
  world.make_group();
  const auto is_of_another_group = [&world](const Roster& roster) {
    return world.node(5).membership().learn(roster, {}, world.now()).verdict ==
           server::Membership::Verdict::other_group;
  };
  CHECK(is_of_another_group(RosterWorld::roster(9, {6, 7}, {{6, 8}, {7, 9}})));
  CHECK_FALSE(is_of_another_group(RosterWorld::roster(9, {5, 6, 7}, {{5, 7}, {6, 8}, {7, 9}})));
}

TEST_CASE(
    "a late promise is no acceptance: a node's answer is to the step that it was asked (G2)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  world.refuse(5);
  world.hang(3);
  world.pass(10ms);
  std::optional<ChangeResult> result;
  operator_.group().change(RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}}), world.now(),
                           [&](ChangeResult got) { result = std::move(got); });
  world.pass(2500us);  // 1, 2 and 4 have promised
  world.hang(4);
  world.hang(3, false);
  REQUIRE(world.run_until([&] { return result.has_value(); }, 30s));
  CHECK(result->outcome == RosterOutcome::chosen);
}
