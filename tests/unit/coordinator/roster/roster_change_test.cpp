// The proposer of a group's next roster, without links (rule G2).
#include "coordinator/roster/roster_change.h"

#include "coordinator/link/node_facts.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using protocol::Reply;

namespace {

constexpr Instant kNow{24h};

std::string id(char digit) {
  return std::string(kNodeIdDigits, digit);
}

RosterMember member(char digit, std::uint64_t since = 1) {
  return {id(digit), id(digit), since, std::string("node-") + digit};
}

NodeIdentity identity(char digit) {
  return member_identity_of(id(digit), id(digit));
}

Roster roster(std::uint64_t epoch, const std::string& digits) {
  Roster roster{epoch, {}};
  for (const char digit : digits) roster.members.push_back(member(digit));
  return roster;
}

// A change of the roster of members a, b, c.
struct Change {
  Change(std::uint64_t epoch, const Roster& wanted)
      : machine({.from = {epoch > 0 ? roster(epoch, "abc") : Roster{}, 10s},
                 .wanted = wanted,
                 .proposer = 7,
                 .members = {identity('a'), identity('b'), identity('c')},
                 .node_timeout = 100ms}) {
    machine.start(kNow, actions);
  }
  void answer(NodeIndex node, NodeIdentity from, const Reply& reply) {
    machine.on_answer(node, from, {.kind = AnswerKind::yes, .from = NodeIdentity{node + 1}}, reply,
                      kNow, actions);
  }
  // To PREPARE: what it accepted before, if anything.
  void promise(NodeIndex node, NodeIdentity from, const Roster& accepted = {},
               const Reply& counter = Reply::integer(70)) {
    Reply words = Reply::array({});
    words.add(Reply::bulk("done"))
        .add(Reply::bulk(accepted.epoch > 0 ? ballot_text({3, 3}) : ""))
        .add(Reply::bulk(roster_text(accepted)))
        .add(Reply::integer(10'000))
        .add(counter.owned());
    answer(node, from, words);
  }
  // To ACCEPT.
  void take(NodeIndex node, NodeIdentity from, Token counter) {
    Reply words = Reply::array({});
    words.add(Reply::bulk("done"))
        .add(Reply::integer(10'000))
        .add(Reply::integer(static_cast<std::int64_t>(counter)));
    answer(node, from, words);
  }

  Actions actions;
  RosterChange machine;
};

}  // namespace

TEST_CASE("who lost its ledger since the change began proves nothing of a first roster (G4)") {
  const Roster other = roster(1, "bc");  // may have been chosen: both may have accepted it
  Change change(0, roster(1, "abc"));
  change.promise(0, identity('a'));
  change.promise(1, identity('b'), other);
  change.promise(2, member_identity_of(id('c'), id('9')));  // c has forgotten that it has
  CHECK(change.machine.outcome() == RosterOutcome::no_quorum);
  CHECK(change.machine.answers()[2].kind == AnswerKind::broken);

  Change again(0, roster(1, "abc"));
  again.promise(0, identity('a'));
  again.promise(1, identity('b'), other);
  again.promise(2, identity('c'));  // it never has: the other roster was not chosen
  CHECK(again.machine.outcome() == RosterOutcome::pending);
  CHECK(again.machine.question().words->at(1) == "ACCEPT");
}

TEST_CASE("what cannot follow the group's roster is proposed to nobody (G2)") {
  Roster two_at_once = roster(3, "ade");
  two_at_once.members[1].since = two_at_once.members[2].since = 3;
  for (const Roster& wanted : {two_at_once, roster(4, "ab")}) {
    Change change(2, wanted);
    change.promise(0, identity('a'));
    change.promise(1, identity('b'));
    CHECK(change.machine.outcome() == RosterOutcome::no_successor);
    CHECK(change.machine.roster().roster.epoch == 2);
  }
}

TEST_CASE("a wish for an epoch that the group has left behind is late") {
  Change change(2, roster(2, "ab"));
  CHECK(change.machine.outcome() == RosterOutcome::superseded);
  CHECK(change.machine.roster().roster == roster(2, "abc"));
  CHECK(change.actions.empty());
}

TEST_CASE("what a node says to have accepted is read strictly: no sound one accepts it") {
  Roster two_at_once = roster(3, "ade");
  two_at_once.members[1].since = two_at_once.members[2].since = 3;
  Change change(2, roster(3, "ab"));
  change.promise(0, identity('a'), two_at_once);
  change.promise(1, identity('b'));
  CHECK(change.machine.outcome() == RosterOutcome::pending);
  change.promise(2, identity('c'));
  CHECK(change.machine.question().words->at(1) == "ACCEPT");
}

TEST_CASE("a promise takes its disk's time; one that can be of no help does not keep the others") {
  Change change(2, roster(3, "ab"));
  change.promise(0, identity('a'));
  change.machine.on_time(kNow + 1s, change.actions);
  CHECK(change.machine.outcome() == RosterOutcome::pending);
  CHECK(change.machine.next_deadline() == kNow + kStoreTimeMin);
  change.promise(1, identity('b'));
  CHECK(change.machine.question().words->at(1) == "ACCEPT");

  Change early(2, roster(3, "ab"));
  Reply wait = Reply::array({});
  wait.add(Reply::bulk("early")).add(Reply::integer(700));
  early.answer(0, identity('a'), wait);
  early.answer(1, identity('b'), wait);
  CHECK(early.machine.outcome() == RosterOutcome::pending);  // c may say another thing yet
  CHECK(early.machine.next_deadline() == kNow + 100ms);
  early.machine.on_time(kNow + 100ms, early.actions);
  CHECK(early.machine.outcome() == RosterOutcome::early);
  CHECK(early.machine.wait() == 700ms);
}

TEST_CASE("a rescue is chosen by being told: each node has its disk's time, and is waited for") {
  Actions actions;
  RosterChange rescue({.from = {roster(1, "abc"), 10s},
                       .wanted = roster(1001, "abc"),
                       .proposer = 7,
                       .members = {identity('a'), identity('b'), identity('c')},
                       .node_timeout = 100ms,
                       .is_rescue = true});
  rescue.start(kNow, actions);
  CHECK(rescue.question().words->at(1) == "LEARN");
  for (const NodeIndex node : {0u, 1u}) {
    const NodeIdentity from = identity(node == 0 ? 'a' : 'b');
    rescue.on_answer(node, from, {.kind = AnswerKind::yes, .from = from}, Reply::ok(), kNow + 1s,
                     actions);
  }
  CHECK(rescue.next_deadline() == kNow + kStoreTimeMin);
  rescue.on_time(kNow + kStoreTimeMin, actions);
  CHECK(rescue.outcome() == RosterOutcome::no_quorum);
}

TEST_CASE("who is outbid stands back before it bids anew, and gives up in the end") {
  Change change(2, roster(3, "ab"));
  Instant now = kNow;
  for (int bid = 1; bid <= RosterChange::kBidsMax; ++bid) {
    Reply behind = Reply::array({});
    behind.add(Reply::bulk("behind"))
        .add(Reply::bulk(ballot_text({std::uint64_t{10} * static_cast<unsigned>(bid), 9})));
    for (const char digit : {'a', 'b', 'c'}) {
      change.machine.on_answer(static_cast<NodeIndex>(digit - 'a'), identity(digit),
                               {.kind = AnswerKind::yes, .from = identity(digit)}, behind, now,
                               change.actions);
    }
    CHECK(change.actions.size() == 3U * static_cast<std::size_t>(bid));  // nothing was asked yet
    if (bid == RosterChange::kBidsMax) break;
    REQUIRE(change.machine.next_deadline());
    now = *change.machine.next_deadline();
    change.machine.on_time(now, change.actions);
    CHECK(change.machine.question().words->at(3) ==
          ballot_text({std::uint64_t{10} * static_cast<unsigned>(bid) + 1, 7}));
  }
  CHECK(now > kNow);
  CHECK(change.machine.outcome() == RosterOutcome::outbid);
}

TEST_CASE("who accepted gives no more token of the epoch: their counters tell the floor (F9)") {
  Change change(2, roster(3, "ab"));
  change.promise(0, identity('a'));
  change.promise(1, identity('b'));
  REQUIRE(change.machine.question().words->at(1) == "ACCEPT");
  change.take(0, identity('a'), 90);  // more than it had when it promised
  change.take(1, identity('b'), 80);
  const NodeRequest told = change.machine.question();
  REQUIRE(told.words->at(1) == "LEARN");
  CHECK(told.words->at(4) == "90");
}

TEST_CASE("a first roster follows none: nobody's counter is asked for") {
  Change change(0, roster(1, "abc"));
  for (const char digit : {'a', 'b', 'c'}) {
    change.promise(static_cast<NodeIndex>(digit - 'a'), identity(digit), {}, Reply::null());
  }
  CHECK(change.machine.question().words->at(1) == "ACCEPT");
}

TEST_CASE("nothing is proposed where the counters tell no floor: nobody could be told it (F9)") {
  SECTION("an unfenced member cannot know what was given: another is waited for") {
    Change change(2, roster(3, "ab"));
    change.promise(0, identity('a'));
    change.promise(1, identity('b'), {}, Reply::null());
    CHECK(change.machine.question().words->at(1) == "PREPARE");
    SECTION("who knows it") {
      change.promise(2, identity('c'));
      CHECK(change.machine.question().words->at(1) == "ACCEPT");
    }
    SECTION("who does not") {
      change.promise(2, identity('c'), {}, Reply::null());
      CHECK(change.machine.outcome() == RosterOutcome::no_floor);
    }
  }
  SECTION("one counter that stands apart needs others that bear it out") {
    Change change(2, roster(3, "ab"));
    change.promise(0, identity('a'));
    change.promise(1, identity('b'), {},
                   Reply::integer(70 + static_cast<std::int64_t>(kLeapMax) + 1));
    CHECK(change.machine.question().words->at(1) == "PREPARE");
    SECTION("and has none: the second largest of three is the floor") {
      change.promise(2, identity('c'));
      CHECK(change.machine.question().words->at(1) == "ACCEPT");
    }
    SECTION("and nobody else answers") {
      change.machine.on_time(kNow + kStoreTimeMin, change.actions);
      CHECK(change.machine.outcome() == RosterOutcome::no_floor);
    }
  }
}
