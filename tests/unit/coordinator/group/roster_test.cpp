// A group's roster, from real coordinators at real nodes (rules G).
#include "coordinator/results/errors.h"
#include "tests/support/roster_world.h"

#include <array>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using Catch::Contains;

using Client = NodeWorld::Client;

TEST_CASE("a group gets its first roster from all of its nodes, and goes by it") {
  RosterWorld world;
  Client& bystander = world.new_client({1, 2, 3, 4, 5});
  CHECK(is_acquired(world.acquire(bystander, "before")));
  Client& founder = world.make_group();
  CHECK(founder.group().roster().roster.epoch == 1);
  for (unsigned number = 1; number <= 5; ++number) CHECK(world.epoch_of(number) == 1);
  CHECK(is_acquired(world.acquire(founder, "printer")));
  CHECK(is_acquired(world.acquire(bystander, "scanner")));  // that was told by nobody
  CHECK(bystander.group().roster().roster.epoch == 1);
}

TEST_CASE("a list of three of the five is refused in one sentence; the right one goes on (G1)") {
  RosterWorld world;
  Client& right = world.make_group();
  Client& wrong = world.new_client({1, 2, 3});
  const Instant asked = world.now();
  const AcquireResult refused = world.acquire(wrong, "printer", 10s);
  CHECK(world.now() - asked < 1s);  // to wait is of no use
  CHECK(refused.outcome == AcquisitionOutcome::no_quorum);
  CHECK(refused.answers[0].kind == AnswerKind::other_group);
  CHECK_THAT(refused.answers[0].text,
             Contains("belongs to a group of 5 nodes (epoch 1)") && Contains("3 are named"));
  CHECK(is_acquired(world.acquire(right, "printer")));
}

TEST_CASE("a release by a list that is refused goes out, and is no release at a quorum (G1)") {
  RosterWorld world;
  HeldLock lock = world.acquire(world.make_group(), "printer").lock;
  Client& wrong = world.new_client({2, 3});
  const ReleaseResult result = world.release(wrong, lock);
  CHECK(result.outcome == ReleaseOutcome::no_quorum);
  CHECK(release_error(wrong.group().nodes(), result).code == ErrorCode::other_group);
  CHECK(world.node(1).locks().size() == 1);
  CHECK(world.node(2).locks().size() == 0);
  CHECK(world.node(3).locks().size() == 0);
}

TEST_CASE(
    "a coordinator whose list is refused admits nobody: its floor is none of the group (F6)") {
  RosterWorld world;
  world.make_group();
  world.lose_ledger(6, 0s);
  world.new_client({1, 2, 6});
  world.pass(30s);
  CHECK_FALSE(world.node(6).grants().fence().is_fenced());
}

TEST_CASE("a coordinator that is to admit nobody admits nobody (F6)") {
  RosterWorld world;
  world.lose_ledger(5, 0s);
  Group::Options options;
  options.admit_unfenced = false;
  world.new_client({1, 2, 3, 4, 5}, std::move(options));
  world.pass(30s);
  CHECK_FALSE(world.node(5).grants().fence().is_fenced());
}

TEST_CASE("a list that was refused is looked at again once a second, not more often (G1)") {
  RosterWorld world;
  world.make_group();
  Client& wrong = world.new_client({1, 2, 3});
  world.pass(10s);
  std::uint64_t connections = 0;
  for (NodeIndex node = 0; node < 3; ++node) {
    connections += wrong.group().link(node).connection();
  }
  CHECK(connections >= 3 + 9);
  CHECK(connections <= 3 + 11);
}

TEST_CASE("a list that was refused counts once it may be one of the group (G1)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  Client& part = world.new_client({1, 2, 3});
  Client& tomorrow = world.new_client({1, 2, 3, 4, 5, 6, 7});
  CHECK_FALSE(is_acquired(world.acquire(part, "printer", 10s)));
  CHECK_FALSE(is_acquired(world.acquire(tomorrow, "printer", 10s)));
  REQUIRE(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 5, 6}, {{6, 2}})).outcome ==
          RosterOutcome::chosen);
  world.pass(3s);
  CHECK(is_acquired(world.acquire(tomorrow, "printer", 0s)));
  CHECK_FALSE(is_acquired(world.acquire(part, "scanner", 10s)));
}

TEST_CASE("a list of an earlier epoch is merely older, also if the group has grown since (G1)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  std::map<unsigned, std::uint64_t> since = {{6, 2}};
  REQUIRE(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 5, 6}, since)).outcome ==
          RosterOutcome::chosen);
  CHECK(is_acquired(world.acquire(world.new_client({1, 2, 3, 4, 5}), "first", 0s)));
  CHECK_FALSE(is_acquired(world.acquire(world.new_client({1, 2, 3, 4, 6}), "first", 0s)));
  world.pass(3min);
  since[7] = 3;
  REQUIRE(world.change(operator_, RosterWorld::roster(3, {1, 2, 3, 4, 5, 6, 7}, since)).outcome ==
          RosterOutcome::chosen);
  CHECK(is_acquired(world.acquire(world.new_client({1, 2, 3, 4, 5}), "second", 0s)));
  world.pass(3min);
  REQUIRE(world.change(operator_, RosterWorld::roster(4, {2, 3, 4, 5, 6, 7}, since)).outcome ==
          RosterOutcome::chosen);
  world.refuse(1);
  for (const std::vector<unsigned>& list :
       {std::vector<unsigned>{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 7}}) {
    Client& old = world.new_client(list);
    CHECK(is_acquired(world.acquire(old, "third" + std::to_string(list.size()), 0s)));
    CHECK(old.group().size() == 6);
  }
  CHECK_FALSE(is_acquired(world.acquire(world.new_client({2, 3, 4}), "third", 0s)));
}

TEST_CASE("a list whose old host is gone comes to the new one before it is answered for (G7)") {
  const auto leave = GENERATE(as<std::string>(), "refuses", "hangs", "answers");
  const auto list =
      GENERATE(std::vector<unsigned>{5, 1, 2, 3, 4}, std::vector<unsigned>{1, 2, 3, 4, 5});
  CAPTURE(leave, list);
  RosterWorld world;
  Client& operator_ = world.make_group();
  REQUIRE(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
          RosterOutcome::chosen);
  world.pass(3min);
  if (leave == "refuses") world.refuse(5);
  if (leave == "hangs") world.hang(5);
  Client& old = world.new_client(list);
  std::optional<std::vector<NodeFinding>> findings;
  old.group().survey(std::array{RequestKind::status}, "", world.now(),
                     [&](std::vector<NodeFinding> got) { findings = std::move(got); });
  REQUIRE(world.run_until([&] { return findings.has_value(); }, 5s));
  REQUIRE(findings->size() == 5);
  for (NodeIndex node = 0; node < 5; ++node) {
    CAPTURE(names(old)[node], (*findings)[node].answer.text);
    CHECK((*findings)[node].answer.kind == AnswerKind::yes);
    CHECK(names(old)[node] != RosterWorld::name_of(5));
  }
}

TEST_CASE("a group that asks for no votes goes by what another one tells of the roster, or nodes") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  Client& listener = world.new_client({1, 2, 3, 4, 5}, true);
  world.pass(1s);
  REQUIRE(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
          RosterOutcome::chosen);
  world.pass(1min);
  CHECK(listener.group().roster().roster.epoch == 1);
  const auto listeners = [&](unsigned number) {
    return world.node(number).pubsub().listeners(server::PubSub::Kind::channel, kRelayChannel);
  };
  CHECK(listeners(5) == 1);
  SECTION("told by another group") {
    listener.group().follow(operator_.group().roster());
    CHECK(listener.group().roster().roster.epoch == 1);  // at the end of an event
  }
  SECTION("told by the nodes") {
    listener.group().look_for_newer_roster(world.now());
  }
  SECTION("told by the first of them alone") {
    for (const unsigned number : {2u, 3u, 4u, 5u}) world.hang(number);
    listener.group().look_for_newer_roster(world.now());
    world.pass(550ms);
    for (const unsigned number : {2u, 3u, 4u, 5u}) world.hang(number, false);
  }
  world.pass(1s);
  CHECK(listener.group().roster().roster.epoch == 2);
  CHECK(listeners(6) == 1);
  CHECK(listeners(5) == 0);
  const std::uint64_t connection = listener.group().link(0).connection();
  listener.group().follow({RosterWorld::roster(1, {1, 2, 3, 4, 5})});
  listener.group().follow(listener.group().roster());
  world.pass(1s);
  CHECK(listener.group().roster().roster.epoch == 2);
  CHECK(listener.group().link(0).connection() == connection);
}

TEST_CASE("who looks for a newer roster and finds none keeps its connections (G7)") {
  RosterWorld world;
  Client& client = world.make_group();
  const std::uint64_t before = client.group().link(0).connection();
  client.group().look_for_newer_roster(world.now());
  world.pass(1s);
  CHECK(client.group().link(0).connection() == before);
  CHECK(client.group().link(0).is_ready());
}

TEST_CASE("who looks for a newer roster with a list that was refused leaves it to its own looks") {
  RosterWorld world;
  world.make_group();
  Client& wrong = world.new_client({1, 2, 3});
  world.pass(50ms);
  const std::uint64_t before = wrong.group().link(0).connection();
  wrong.group().look_for_newer_roster(world.now());
  world.pass(50ms);
  CHECK(wrong.group().link(0).connection() == before);
  CHECK(wrong.group().link(0).is_ready());
}

TEST_CASE("who looks again whose list it is breaks no connection at which an answer is due (G1)") {
  RosterWorld world;
  HeldLock lock = world.acquire(world.make_group(), "printer").lock;
  Client& wrong = world.new_client({1, 2, 3});
  world.pass(50ms);
  for (const unsigned number : {1u, 2u, 3u}) world.hang(number);
  wrong.group().release(lock, world.now(), [](const ReleaseResult&) {});
  const std::uint64_t before = wrong.group().link(0).connection();
  world.pass(5s);
  CHECK(wrong.group().link(0).connection() == before);
}

TEST_CASE(
    "a group that has no roster takes none from another group: its nodes tell the first (G1)") {
  RosterWorld world;
  Client& founder = world.make_group();
  Client& stranger = world.new_client({6, 7});
  world.pass(20ms);
  stranger.group().follow(founder.group().roster());
  world.pass(1s);
  CHECK(stranger.group().roster().roster.epoch == 0);
  CHECK(names(stranger) == std::vector{RosterWorld::name_of(6), RosterWorld::name_of(7)});
}

TEST_CASE("an address of the list is tried again where the one that the roster tells fails (G7)") {
  RosterWorld world;
  Client& founder = world.new_client({1, 2, 3, 4, 5});
  world.pass(20ms);
  Roster roster = RosterWorld::roster(1, {1, 2, 3, 4, 5});
  roster.members[4].address = RosterWorld::name_of(7);  // which leads elsewhere, and to nobody
  world.refuse(7);
  REQUIRE(world.change(founder, roster).outcome == RosterOutcome::chosen);
  world.refuse(5);
  Client& client = world.new_client({1, 2, 3, 4, 5});
  world.pass(1min);
  CHECK(client.group().link(4).state() == Link::State::backing_off);
  world.refuse(5, false);
  world.pass(5s);
  CHECK(client.group().link(4).is_ready());
}

TEST_CASE("an attempt to acquire is begun anew where the group's nodes change meanwhile (G1)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  Client& worker = world.new_client({1, 2, 3, 4, 5});
  world.pass(20ms);
  std::size_t acquired = 0;
  std::size_t done = 0;
  std::optional<ChangeResult> changed;
  operator_.group().change(RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}}), world.now(),
                           [&](ChangeResult got) { changed = std::move(got); });
  for (int i = 0; i < 50; ++i) {
    AcquireRequest request{.name = fmt::format("lock{}", i), .ttl = 10s};
    worker.group().acquire(std::move(request), world.now(), [&](const AcquireResult& got) {
      ++done;
      if (is_acquired(got)) ++acquired;
    });
    world.pass(500us);
  }
  REQUIRE(world.run_until([&] { return done == 50 && changed; }, 30s));
  CHECK(acquired == 50);
}

TEST_CASE("connections after a change have numbers that none before had, whichever node (Q3)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  for (int i = 0; i < 5; ++i) {
    world.refuse(1);
    world.refuse(1, false);
    world.pass(3s);
  }
  const std::uint64_t before = operator_.group().link(0).connection();
  REQUIRE(before > operator_.group().link(1).connection());
  REQUIRE(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
          RosterOutcome::chosen);
  world.pass(1s);
  for (NodeIndex node = 0; node < 5; ++node) {
    CHECK(operator_.group().link(node).connection() > before);
  }
}

TEST_CASE("what an attempt got before the group's nodes changed is given back (G1)") {
  RosterWorld world;
  world.make_group();
  Client& worker = world.new_client({1, 2, 3, 4, 5});
  world.pass(20ms);
  world.tell(1, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}}));
  for (const unsigned number : {4u, 5u}) world.hang(number);
  std::optional<AcquireResult> result;
  AcquireRequest request{.name = "printer", .ttl = 10s};
  request.patience.wait = 1s;
  worker.group().acquire(std::move(request), world.now(),
                         [&](AcquireResult got) { result = std::move(got); });
  REQUIRE(world.run_until([&] { return worker.group().roster().roster.epoch == 2; }, 40ms));
  REQUIRE(world.node(2).locks().size() == 1);  // its vote was one of two
  for (const unsigned number : {4u, 5u}) world.hang(number, false);
  REQUIRE(world.run_until([&] { return result.has_value(); }, 5s));
  CHECK(is_acquired(*result));
}

TEST_CASE("the attempt of a waiter that was woken is begun anew where the nodes change (G1)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  Client& worker = world.new_client({1, 2, 3, 4, 5});
  REQUIRE(is_acquired(world.acquire(operator_, "printer")));
  std::optional<AcquireResult> result;
  AcquireRequest request{.name = "printer", .ttl = 10s};
  request.patience.wait = 60s;
  worker.group().acquire(std::move(request), world.now(),
                         [&](AcquireResult got) { result = std::move(got); });
  world.pass(5s);
  REQUIRE(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}})).outcome ==
          RosterOutcome::chosen);
  const auto is_free = [&world](unsigned number) {
    return world.node(number).locks().find("printer", world.now()) == nullptr;
  };
  REQUIRE(world.run_until([&] { return is_free(1) && is_free(2) && is_free(3) && is_free(4); }));
  world.pass(1500us);                                             // the worker is told
  for (const unsigned number : {2u, 3u, 4u}) world.hang(number);  // node 1 alone tells the change
  REQUIRE(world.run_until([&] { return worker.group().roster().roster.epoch == 2; }, 100ms));
  for (const unsigned number : {2u, 3u, 4u}) world.hang(number, false);
  REQUIRE(world.run_until([&] { return result.has_value(); }, 5s));
  CHECK(is_acquired(*result));
}

TEST_CASE("who was told an old roster first has a link for each member of the newest (G1)") {
  RosterWorld world;
  Client& operator_ = world.make_group();
  const std::map<unsigned, std::uint64_t> since = {{6, 2}, {7, 3}};
  REQUIRE(world.change(operator_, RosterWorld::roster(2, {1, 2, 3, 4, 6}, since)).outcome ==
          RosterOutcome::chosen);
  world.pass(3min);
  REQUIRE(world.change(operator_, RosterWorld::roster(3, {1, 2, 3, 4, 6, 7}, since)).outcome ==
          RosterOutcome::chosen);
  for (const unsigned number : {1u, 2u, 3u, 4u, 6u}) world.refuse(number);
  Client& yesterday = world.new_client({1, 2, 3, 4, 5});
  world.pass(1s);  // it has met node 5 alone, which was no member when the last change came
  CHECK(yesterday.group().roster().roster.epoch == 2);
  for (const unsigned number : {1u, 2u, 3u, 4u, 6u}) world.refuse(number, false);
  world.pass(5s);
  CHECK(yesterday.group().roster().roster.epoch == 3);
  CHECK(names(yesterday).size() == 6);
}

TEST_CASE("while a change is under way there is no quorum, and nothing is wrong with the list") {
  RosterWorld world;
  Client& worker = world.make_group();
  const Roster second = RosterWorld::roster(2, {1, 2, 3, 4, 6}, {{6, 2}});
  for (const unsigned number : {1u, 2u, 3u}) {
    auto& membership = world.node(number).membership();
    const auto step = membership.accept({1, 99}, second, world.now());
    REQUIRE(step.wanted);
    world.node(number).coverage().cover_roster(*step.wanted, world.now());
  }
  world.pass(10ms);
  AcquireResult refused;
  AcquireRequest request{.name = "printer", .ttl = 10s};
  request.patience.wait = 5s;
  request.on_retry = [&refused](const AcquireResult& got) { refused = got; };
  worker.group().acquire(std::move(request), world.now(), [](const AcquireResult&) {});
  REQUIRE(world.run_until([&refused] { return !refused.answers.empty(); }));
  CHECK(refused.answers[0].kind == AnswerKind::other_group);
  CHECK(acquisition_error(worker.group().nodes(), refused).code == ErrorCode::no_quorum);
  CHECK(is_acquired(world.acquire(worker, "scanner", 0s)));  // who met the change has finished it
  Client& wrong = world.new_client({1, 2, 3});
  const AcquireResult never = world.acquire(wrong, "printer", 0s);
  CHECK(acquisition_error(wrong.group().nodes(), never).code == ErrorCode::other_group);
}

TEST_CASE("a list that leads to a stranger goes on with the member that it lacks (G7)") {
  RosterWorld world;
  Client& founder = world.make_group();
  Client& other = world.new_client({6, 1, 2, 3, 4});
  CHECK(is_acquired(world.acquire(other, "printer")));
  world.pass(5s);
  CHECK(names(other) == std::vector<std::string>{"node5:6379", "node1:6379", "node2:6379",
                                                 "node3:6379", "node4:6379"});
  CHECK(world.node(6).locks().find("printer", world.now()) == nullptr);
  CHECK(world.acquire(founder, "printer", 0s).outcome == AcquisitionOutcome::held);
}

TEST_CASE("a list that leads to one node twice goes on with the member that it lacks (G7)") {
  RosterWorld world;
  world.make_group();
  Client& other = world.new_client({1, 2, 3, 4, 4});
  world.pass(5s);
  std::vector<std::string> met = names(other);
  std::sort(met.begin(), met.end());
  CHECK(met == std::vector<std::string>{"node1:6379", "node2:6379", "node3:6379", "node4:6379",
                                        "node5:6379"});
  CHECK(is_acquired(world.acquire(other, "printer")));
  CHECK(world.node(5).locks().find("printer", world.now()) != nullptr);
}
