// The proposer of a group's next roster, without links (rule G2).
#include "coordinator/roster/roster_change.h"

#include "coordinator/link/node_facts.h"

#include <initializer_list>
#include <variant>

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

using Word = std::variant<std::string_view, std::int64_t>;

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
               const Reply& counter = Reply::integer(70), const RosterBallot& ballot = {3, 3}) {
    Reply words = Reply::array({});
    words.add(Reply::bulk("done"))
        .add(Reply::bulk(accepted.epoch > 0 ? ballot_text(ballot) : ""))
        .add(Reply::bulk(roster_text(accepted)))
        .add(Reply::integer(10'000))
        .add(counter.owned());
    answer(node, from, words);
  }
  // To PREPARE or ACCEPT: these words.
  void say(NodeIndex node, std::initializer_list<Word> all) {
    Reply words = Reply::array({});
    for (const Word& word : all) {
      const auto* number = std::get_if<std::int64_t>(&word);
      words.add(number != nullptr ? Reply::integer(*number)
                                  : Reply::bulk(std::string(std::get<std::string_view>(word))));
    }
    answer(node, identity("abc"[node]), words);
  }
  // Of what is asked.
  std::string word(std::size_t index) const { return machine.question().words->at(index); }
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

  Change third(0, roster(1, "abc"));
  third.promise(0, identity('a'));
  third.promise(1, identity('b'), roster(1, "ab"));  // nor was this one: a has not accepted it
  third.promise(2, identity('c'));
  CHECK(third.word(3) == roster_text(roster(1, "abc")));
}

TEST_CASE("what cannot follow the group's roster is proposed to nobody (G2)") {
  Roster two_at_once = roster(3, "ade");
  two_at_once.members[1].since = two_at_once.members[2].since = 3;
  for (const Roster& wanted : {two_at_once, roster(4, "ab")}) {
    Change change(2, wanted);
    change.promise(0, identity('a'));
    change.promise(1, identity('b'));
    CHECK(change.machine.outcome() == RosterOutcome::no_successor);
    CHECK(change.actions.size() == 3);
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

TEST_CASE("each step asks every node once, by what the one before has come to (G2)") {
  Change change(2, roster(3, "ab"));
  CHECK(change.actions.size() == 3);
  CHECK(change.word(1) == "PREPARE");
  CHECK(change.word(2) == "3");
  CHECK(change.word(3) == ballot_text({1, 7}));
  change.promise(0, identity('a'));
  change.promise(2, identity('c'));
  CHECK(change.actions.size() == 6);
  CHECK(change.word(1) == "ACCEPT");
  CHECK(change.word(3) == roster_text(roster(3, "ab")));
  change.take(0, identity('a'), 70);
  CHECK(change.word(1) == "ACCEPT");  // what it promised before is no acceptance
  change.take(1, identity('b'), 70);
  CHECK(change.actions.size() == 9);
  CHECK(change.word(1) == "LEARN");
  CHECK(change.machine.next_deadline() == kNow + 100ms);  // no disk is waited for
  for (const NodeIndex node : {0u, 1u}) {
    change.answer(node, identity(node == 0 ? 'a' : 'b'), Reply::ok());
    CHECK(change.machine.outcome() == RosterOutcome::pending);
  }
  change.say(2, {"epoch", roster_text(roster(4, "ab")), 20'000, 77});  // chosen is chosen
  CHECK(change.machine.outcome() == RosterOutcome::chosen);
  CHECK(change.machine.roster().roster == roster(3, "ab"));
  CHECK_FALSE(change.machine.next_deadline());
}

TEST_CASE("what was accepted under the largest ballot is proposed, whatever is wanted (G2)") {
  const auto epoch = GENERATE(as<std::uint64_t>(), 1, 2);
  const Roster first = roster(epoch + 1, "ac");
  const Roster second = roster(epoch + 1, "bc");
  Change change(epoch, roster(epoch + 1, "ab"));
  SECTION("of one") {
    change.promise(0, identity('a'), first, Reply::integer(70), {1, 3});
    change.promise(2, identity('c'));  // which may accept it yet
    CHECK(change.word(3) == roster_text(first));
  }
  SECTION("of two") {
    const bool is_later = GENERATE(true, false);
    change.promise(0, identity('a'), first, Reply::integer(70), {4, 3});
    change.promise(1, identity('b'), second, Reply::integer(70), {is_later ? 5U : 3U, 3});
    CHECK(change.word(3) == roster_text(is_later ? second : first));
  }
}

TEST_CASE("what is no answer in form is none, and neither is a second one") {
  Change change(2, roster(3, "ab"));
  SECTION("no list") {
    change.answer(0, identity('a'), Reply::ok());
  }
  SECTION("an empty one") {
    change.say(0, {});
  }
  SECTION("another word") {
    change.say(0, {"well", "", "", 70, 70});
  }
  SECTION("one word fewer") {
    change.say(0, {"done", "", "", 70});
  }
  SECTION("one word more") {
    change.say(0, {"done", "", "", 70, 70, 70});
  }
  SECTION("no ballot") {
    change.say(0, {"done", "x", roster_text(roster(3, "ac")), 70, 70});
  }
  SECTION("no roster") {
    change.say(0, {"done", ballot_text({3, 3}), "", 70, 70});
  }
  SECTION("of a node that is another by now") {
    change.promise(0, identity('d'));
    CHECK(change.machine.answers()[0].text == "is not the node that it was when the change began");
  }
  SECTION("half a refusal") {
    change.say(0, {"early"});
  }
  SECTION("half of another") {
    change.say(0, {"behind"});
  }
  change.promise(0, identity('a'));
  change.promise(1, identity('b'));
  CHECK(change.word(1) == "PREPARE");
  CHECK(change.machine.outcome() == RosterOutcome::pending);
  change.promise(2, identity('c'));
  CHECK(change.word(1) == "ACCEPT");
}

TEST_CASE("the longest TTL that any node tells goes with the roster (G3)") {
  Change change(2, roster(3, "ab"));
  change.say(0, {"done", "", "", 12'000, 0});
  change.say(1, {"done", "", "", 11'000, 0});
  change.say(0, {"done", 14'000, 0});
  change.say(1, {"done", 13'000, 0});
  CHECK(change.word(1) == "LEARN");
  CHECK(change.word(3) == "14000");
  CHECK(change.word(4) == "1");  // no token was given yet: that is known, too
}

TEST_CASE("a node that goes by a later roster tells it, and the change is late (G2)") {
  Change change(2, roster(3, "ab"));
  const std::string later = roster_text(roster(3, "ac"));
  SECTION("of which nothing is left to do, whoever answers later") {
    change.say(0, {"epoch", later, 20'000, 77});
    CHECK_FALSE(change.machine.next_deadline());
    change.machine.on_time(kNow + 1h, change.actions);
    CHECK(change.machine.answers()[1].kind == AnswerKind::none);
  }
  SECTION("also as the last that answers") {
    change.say(0, {"early", 700});
    change.say(1, {"early", 700});
    change.say(2, {"epoch", later, 20'000, 77});
  }
  CHECK(change.machine.outcome() == RosterOutcome::superseded);
  CHECK(change.machine.roster().roster == roster(3, "ac"));
  CHECK(change.machine.roster().longest == 20s);
  CHECK(change.machine.roster().floor == 77);
}

TEST_CASE("a roster of now, or one that nobody can read, is no later one") {
  Change change(2, roster(3, "ab"));
  change.say(0, {"epoch", roster_text(roster(2, "abc")), 20'000, 77});
  change.say(1, {"epoch", "x", 20'000, 77});
  CHECK(change.machine.outcome() == RosterOutcome::pending);
  change.say(2, {"epoch", roster_text(roster(3, "ac")), 20'000});
  CHECK(change.machine.outcome() == RosterOutcome::no_quorum);
}

TEST_CASE("where it is early the longest wait that a node tells is told (G3)") {
  Change change(2, roster(3, "ab"));
  change.say(0, {"early", 700});
  CHECK(change.machine.next_deadline() == kNow + kStoreTimeMin);  // the two others may do
  change.say(1, {"done", "", "", 10'000, 70});
  change.say(2, {"early", 300});
  CHECK(change.machine.outcome() == RosterOutcome::early);
  CHECK(change.machine.wait() == 700ms);

  Change no_wait(2, roster(3, "ab"));
  for (const NodeIndex node : {0u, 1u, 2u}) no_wait.say(node, {"early", 0});
  CHECK(no_wait.machine.outcome() == RosterOutcome::no_quorum);
}

TEST_CASE("who stands back does so by what its bids took, whoever answers meanwhile (G2)") {
  Change change(2, roster(3, "ab"));
  Instant now = kNow;
  const auto behind = [&](NodeIndex node, std::uint64_t number) {
    Reply words = Reply::array({});
    words.add(Reply::bulk("behind")).add(Reply::bulk(ballot_text({number, 9})));
    const NodeIdentity from = identity("abc"[node]);
    change.machine.on_answer(node, from, {.kind = AnswerKind::yes, .from = from}, words, now,
                             change.actions);
  };
  for (int bid = 1; bid < RosterChange::kBidsMax; ++bid) {
    const auto number = std::uint64_t{10} * static_cast<unsigned>(bid);
    behind(0, number);
    behind(1, number - 1);
    now += 100ms;
    change.machine.on_time(now, change.actions);
    const auto next = change.machine.next_deadline();
    REQUIRE(next);
    CHECK(*next - now < std::min<Duration>(101ms * (1 << bid), RosterChange::kStandBackMax));
    behind(2, number + 1);
    CHECK(change.machine.next_deadline() == next);
    now = *next;
    change.machine.on_time(now, change.actions);
    CHECK(change.word(3) == ballot_text({number + 2, 7}));
  }
}

TEST_CASE("a first roster of other nodes is told as such, with no floor") {
  Change change(0, roster(1, "abc"));
  const Roster other = roster(1, "ab");
  change.promise(0, identity('a'), other);
  change.promise(1, identity('b'), other);
  change.promise(2, identity('c'));
  CHECK(change.machine.outcome() == RosterOutcome::other_group);
  CHECK(change.actions.size() == 3);
  CHECK(change.machine.roster().roster == other);
  CHECK(change.machine.roster().floor == 0);
}
