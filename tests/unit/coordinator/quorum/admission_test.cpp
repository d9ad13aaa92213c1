#include "coordinator/quorum/admission.h"

#include "tests/unit/coordinator/quorum/admission_story.h"

using namespace redlock;
using namespace redlock::coordinator;

namespace {

using State = Story::State;

}  // namespace

TEST_CASE("an unfenced node gets a floor that no given token is above (rule F6)") {
  Story story(nodes({5}));
  CHECK(story.start() == "look 5");
  CHECK(story.unfenced(5) == "read 1 2 3 4 5");
  CHECK(story.fenced(1, 40).empty());
  CHECK(story.fenced(2, 70).empty());
  CHECK(story.fenced(4, 10).empty());
  CHECK(story.unfenced(5).empty());
  SECTION("of a quorum that was read, the largest") {
    CHECK(story.time(501ms) == "admit 70: 5");
  }
  SECTION("of all four others, the second largest: two of them know") {
    CHECK(story.fenced(3, 30) == "admit 40: 5");
  }
  CHECK(story.ok(5).empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::done);
  CHECK(story.state(5) == State::admitted);
  CHECK_FALSE(story.machine.next_deadline().has_value());
}

TEST_CASE("one counter that somebody has set is not carried to another node (rule F6)") {
  constexpr Token kPoison = Token{1} << 52;
  Story story({.candidates = nodes({5}), .looked = true}, group_of(5));
  story.start();
  story.unfenced(5);
  story.fenced(1, 40);
  story.fenced(2, kPoison);
  story.fenced(3, 40);
  SECTION("where all others tell theirs, it does not count") {
    CHECK(story.fenced(4, 39) == "admit 40: 5");
  }
  SECTION("where it may be the one that knows, nobody is admitted") {
    CHECK(story.says(4, "refused").empty());
    CHECK(story.machine.outcome() == AdmissionOutcome::counters_apart);
    CHECK(story.state(5) == State::unfenced);
    CHECK(story.machine.standing(1).is_far_above);
    CHECK_FALSE(story.machine.standing(0).is_far_above);
  }
}

// Nodes 1, 2 and 5 gave a token, 5 has lost its ledger, and 2 does not answer: who left 1 out of
// the reading would let the token fall.
TEST_CASE("a counter is never left out of the reading") {
  constexpr Token kGiven = Token{1} << 33;
  Story story({.candidates = nodes({5}), .looked = true}, group_of(5));
  story.start();
  story.fenced(1, kGiven);
  story.fenced(3, 1);
  story.fenced(4, 1);
  story.says(2, "refused");
  CHECK(story.unfenced(5).empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::counters_apart);
}

TEST_CASE("only an operator's word goes on where counters are apart, and it lowers nothing") {
  const Token floor = GENERATE(Token{40}, Token{39}, Token{1} << 52);
  Story story({.candidates = nodes({5}), .looked = true, .by_operator = {.floor = floor}},
              group_of(5));
  story.start();
  story.fenced(1, 40);
  story.fenced(2, Token{1} << 52);
  story.fenced(3, 40);
  story.says(4, "refused");
  const std::string asked = story.unfenced(5);
  if (floor >= 40) {
    CHECK(asked == fmt::format("admit {}: 5", floor));
  } else {
    CHECK(story.machine.outcome() == AdmissionOutcome::floor_too_low);
    CHECK(story.machine.least_floor() == 40);
  }
}

TEST_CASE("where counters agree, an operator's floor is not below what they tell") {
  Story story({.candidates = nodes({5}), .looked = true, .by_operator = {.floor = Token{69}}},
              group_of(5));
  story.start();
  for (const unsigned node : {1u, 2u, 3u, 4u}) story.fenced(node, 70);
  story.unfenced(5);
  CHECK(story.machine.outcome() == AdmissionOutcome::floor_too_low);
}

TEST_CASE("a node that two addresses lead to tells its counter once (rule Q5)") {
  Story story({.candidates = nodes({5}), .looked = true}, group_of(5));
  story.start();
  story.unfenced(5);
  story.fenced_as(1, 1, 40);
  story.fenced_as(1, 2, 40);
  story.fenced_as(3, 3, 40);
  CHECK(story.says(4, "refused").empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::no_quorum);
  CHECK(story.machine.standing(1).answer.kind == AnswerKind::broken);
}

TEST_CASE("a node that is fenced by the time its floor comes was admitted by another") {
  Story story({.candidates = nodes({5}), .looked = true}, group_of(5));
  story.start();
  story.unfenced(5);
  for (const unsigned node : {1u, 2u, 3u, 4u}) story.fenced(node, 7);
  story.fenced(5);
  CHECK(story.machine.outcome() == AdmissionOutcome::done);
  CHECK(story.state(5) == State::fenced);
}

TEST_CASE("whose greeting told that its time is over is not looked at again") {
  Story story({.candidates = nodes({5}), .looked = true}, group_of(5));
  CHECK(story.start() == "read 1 2 3 4 5");
  for (const unsigned node : {1u, 2u, 3u, 4u}) story.fenced(node, 4);
  CHECK(story.unfenced(5) == "admit 4: 5");
}

TEST_CASE("what an unfenced node tells is neither a vote nor a floor") {
  Story story(nodes({4, 5}));
  CHECK(story.start() == "look 4 5");
  story.unfenced(4, 900);
  CHECK(story.unfenced(5, 800) == "read 1 2 3 4 5");
  CHECK(story.unfenced(5, 800).empty());
  CHECK(story.unfenced(4, 900).empty());
  CHECK(story.fenced(1, 5).empty());
  CHECK(story.fenced(2, 6).empty());
  CHECK(story.fenced(3, 7) == "admit 7: 4 5");
}

TEST_CASE("a recovering node that is fenced tells its counter all the same") {
  Story story(nodes({5}));
  story.start();
  story.unfenced(5);
  story.fenced(1, 1);
  story.fenced(2, 2);
  // LOCK.FENCE READ is answered while recovering, and nothing of that shows in the answer.
  story.fenced(3, 3);
  story.says(4, "refused");
  CHECK(story.unfenced(5) == "admit 3: 5");
}

TEST_CASE("counters are read only after the node said that its time is over (rule F7)") {
  Story story(nodes({2}));
  CHECK(story.start() == "look 2");
  const Duration left = GENERATE(as<Duration>(), 1ns, 1500ms);
  CHECK(story.unfenced(2, 0, left).empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::refused);
  CHECK(story.state(2) == State::early);
  CHECK(story.machine.standing(1).admit_in == left);
}

TEST_CASE("one that is too early does not keep another from its admission") {
  Story story(nodes({1, 2}));
  story.start();
  story.unfenced(1, 0, 700ms);
  CHECK(story.unfenced(2) == "read 1 2 3 4 5");
  story.fenced(3, 9);
  story.fenced(4, 9);
  story.fenced(5, 9);
  story.unfenced(1, 0, 700ms);
  CHECK(story.unfenced(2) == "admit 9: 2");
  story.ok(2);
  CHECK(story.machine.outcome() == AdmissionOutcome::refused);
  CHECK(story.state(1) == State::early);
  CHECK(story.state(2) == State::admitted);
}

TEST_CASE("where all are fenced there is nothing to do, and nobody is asked for more") {
  Story story(nodes({1, 2, 3, 4, 5}));
  CHECK(story.start() == "look 1 2 3 4 5");
  for (const unsigned node : {1u, 2u, 3u, 4u}) CHECK(story.fenced(node, 3).empty());
  CHECK(story.says(5, "refused").empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::done);
  CHECK(story.state(5) == State::unknown);
}

TEST_CASE("one that another coordinator admitted meanwhile is not asked again") {
  Story story(nodes({5}));
  story.start();
  story.unfenced(5);
  story.fenced(5, 4);
  story.fenced(1, 4);
  story.fenced(2, 4);
  story.fenced(3, 4);
  CHECK(story.fenced(4, 4).empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::done);
  CHECK(story.state(5) == State::fenced);
}

TEST_CASE("without a quorum that is fenced only the operator helps") {
  Story story(nodes({1, 2, 3, 4, 5}));
  story.start();
  for (const unsigned node : {1u, 2u, 3u}) story.unfenced(node);
  story.fenced(4, 5);
  CHECK(story.fenced(5, 5) == "read 1 2 3 4 5");
  story.unfenced(1);
  story.unfenced(2);
  CHECK(story.unfenced(3) == "withdraw 4 5");
  CHECK(story.machine.outcome() == AdmissionOutcome::needs_operator);
}

TEST_CASE("nodes that are silent may be fenced: too few answered to know") {
  Story story(nodes({3}));
  story.start();
  story.unfenced(3);
  story.says(1, "refused");
  story.says(2, "broken");
  CHECK(story.unfenced(3) == "withdraw 4 5");
  CHECK(story.machine.outcome() == AdmissionOutcome::no_quorum);
}

TEST_CASE("two of five that are unfenced do not prove that the silent ones are") {
  Story story(nodes({3}));
  story.start();
  story.unfenced(3);
  for (const unsigned node : {2u, 3u}) story.unfenced(node);
  CHECK(story.says(4, "refused") == "withdraw 1 5");
  CHECK(story.machine.outcome() == AdmissionOutcome::no_quorum);
}

TEST_CASE("one that has told that its time is over gets the floor, silent or not just then") {
  Story story({.candidates = nodes({1}), .looked = true}, group_of(5));
  story.start();
  for (const unsigned node : {2u, 3u, 4u, 5u}) story.fenced(node, 7);
  CHECK(story.time(500ms) == "admit 7: 1");
}

TEST_CASE("a counter stands apart that is more than a leap above the next largest (rule F6)") {
  const Token more = GENERATE(Token{0}, Token{1});
  Story story({.candidates = nodes({5}), .looked = true}, group_of(5));
  story.start();
  story.fenced(1, 40 + kLeapMax + more);
  story.fenced(2, 40);
  story.fenced(3, 39);
  story.fenced(4, 40);
  CHECK(story.unfenced(5) == "admit 40: 5");
  CHECK(story.machine.standing(0).is_far_above == (more > 0));
}

TEST_CASE("a hung node costs an admission the node timeout: it may be the one that knows") {
  Story story(nodes({1}));
  story.start();
  story.unfenced(1);
  story.fenced(3, 1);
  story.fenced(4, 1);
  CHECK(story.fenced(5, 1).empty());
  CHECK(story.unfenced(1).empty());
  CHECK(story.time(501ms) == "admit 1: 1");
}

TEST_CASE("a candidate that has not answered by the node timeout was not heard") {
  Story story(nodes({1}));
  story.start();
  CHECK(story.machine.next_deadline() == at(500ms));
  CHECK(story.time(499ms).empty());
  CHECK(story.time(500ms).empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::no_quorum);
  CHECK(answer_text(story.machine.standing(0).answer) == "no answer within 500 ms");
  CHECK(story.machine.standing(0).answer.took == 500ms);
}

TEST_CASE("a floor gets the time that a disk takes") {
  Story story(nodes({1}), group_of(1 + 2));
  story.start();
  story.unfenced(1);
  story.fenced(2, 8);
  CHECK(story.fenced(3, 8).empty());
  CHECK(story.unfenced(1) == "admit 8: 1");
  CHECK(story.machine.next_deadline() == at(1ms + kStoreTimeMin));
  story.time(1ms + kStoreTimeMin);
  CHECK(story.machine.outcome() == AdmissionOutcome::refused);
  CHECK(story.state(1) == State::failed);
}

TEST_CASE("a node that refuses the floor stays unfenced, and its words are kept") {
  Story story(nodes({1}));
  story.start();
  story.unfenced(1);
  for (const unsigned node : {2u, 3u, 4u, 5u}) story.fenced(node, 8);
  story.unfenced(1);
  story.says(1, "-ERR too early for an admission");
  CHECK(story.machine.outcome() == AdmissionOutcome::refused);
  CHECK(answer_text(story.machine.standing(0).answer) == "ERR too early for an admission");
}

TEST_CASE("an answer to an earlier question is not taken for one to this") {
  Story story(nodes({1, 2}));
  story.start();
  story.unfenced(1);
  CHECK(story.time(500ms) == "read 1 2 3 4 5");
  Actions actions;
  story.machine.on_answer(1,
                          {.to = AdmissionQuestion::look,
                           .answer = {.kind = AnswerKind::yes},
                           .fenced = true,
                           .counter = 1000},
                          at(501ms), actions);
  CHECK(story.state(2) == State::unknown);
  for (const unsigned node : {3u, 4u, 5u}) story.fenced(node, 8);
  story.says(2, "refused");
  CHECK(story.unfenced(1) == "admit 8: 1");
}

TEST_CASE("for people, every node is asked for its counter before it is said that too few told") {
  Terms terms = group_of(5);
  terms.hear_everyone = true;
  Story story(nodes({3}), terms);
  story.start();
  story.unfenced(3);
  for (const unsigned node : {1u, 2u}) story.says(node, "refused");
  CHECK(story.unfenced(3).empty());
  story.fenced(4, 1);
  CHECK(story.fenced(5, 1).empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::no_quorum);
}

TEST_CASE("a new group is admitted at the floor that the operator vouches for") {
  Story story(new_group(1000));
  CHECK(story.start() == "look 1 2 3 4 5");
  for (const unsigned node : {1u, 2u, 3u, 4u}) CHECK(story.unfenced(node).empty());
  CHECK(story.unfenced(5) == "read 1 2 3 4 5");
  for (const unsigned node : {1u, 2u, 3u, 4u}) CHECK(story.unfenced(node, 30).empty());
  CHECK(story.unfenced(5, 30) == "admit 1000: 1 2 3 4 5");
  for (const unsigned node : {1u, 2u, 3u, 4u, 5u}) CHECK(story.ok(node).empty());
  CHECK(story.machine.outcome() == AdmissionOutcome::done);
}

TEST_CASE("a new group gets no floor by default, and none below what its nodes tell") {
  const std::optional<Token> floor = GENERATE(std::optional<Token>(), std::optional<Token>(43));
  Story story(new_group(floor));
  story.start();
  for (const unsigned node : {1u, 2u, 3u, 4u, 5u}) story.unfenced(node);
  for (const unsigned node : {1u, 2u, 3u, 4u}) story.unfenced(node, 10);
  CHECK(story.unfenced(5, 44).empty());
  CHECK(story.machine.outcome() ==
        (floor ? AdmissionOutcome::floor_too_low : AdmissionOutcome::floor_needed));
  CHECK(story.machine.least_floor() == 44);
}

TEST_CASE("where a quorum of ledgers is lost, the floor is the operator's, and no counter falls") {
  const std::optional<Token> floor =
      GENERATE(std::optional<Token>(), std::optional<Token>(99), std::optional<Token>(100));
  Story story(new_group(floor));
  story.start();
  story.fenced(1, 40, 100);  // its bound
  story.fenced(2, 60, 90);
  for (const unsigned node : {3u, 4u}) CHECK(story.unfenced(node).empty());
  CHECK(story.unfenced(5) == "read 1 2 3 4 5");
  story.fenced(1, 41);
  story.fenced(2, 60);
  for (const unsigned node : {3u, 4u}) CHECK(story.unfenced(node).empty());
  const std::string asked = story.unfenced(5);
  CHECK(story.machine.least_floor() == 100);
  CHECK(asked == (floor == Token{100} ? "admit 100: 3 4 5" : ""));
  if (floor == Token{99}) CHECK(story.machine.outcome() == AdmissionOutcome::floor_too_low);
  if (!floor) CHECK(story.machine.outcome() == AdmissionOutcome::floor_needed);
}

TEST_CASE("where fewer than a quorum lost theirs, what the others tell is the floor") {
  const AdmissionPlan plan{.candidates = all_nodes(4), .by_operator = new_group(std::nullopt)};
  Story story(plan, group_of(4));  // a quorum is three: two are none, and each token met one of two
  story.start();
  story.fenced(1, 40, 100);
  story.fenced(2, 60, 90);
  story.unfenced(3);
  story.unfenced(4);
  story.fenced(1, 40);
  story.fenced(2, 160);
  story.unfenced(3);
  CHECK(story.unfenced(4) == "admit 160: 3 4");
  story.ok(3);
  story.ok(4);
  CHECK(story.machine.outcome() == AdmissionOutcome::done);
}

TEST_CASE("where a quorum is fenced, if by now, nobody vouches for another floor") {
  Story story(new_group(1000));
  story.start();
  for (const unsigned node : {1u, 2u}) story.fenced(node, 7);
  for (const unsigned node : {4u, 5u}) story.unfenced(node);
  const bool is_known_at_once = GENERATE(true, false);
  const std::string asked = is_known_at_once ? story.fenced(3, 7) : story.unfenced(3);
  if (!asked.empty()) {
    for (const unsigned node : {1u, 2u, 3u}) story.fenced(node, 7);
    for (const unsigned node : {4u, 5u}) CHECK(story.unfenced(node).empty());
  }
  CHECK(story.machine.outcome() == AdmissionOutcome::refused);
}

TEST_CASE("a new group needs all nodes, serving and ready, and touches none otherwise") {
  Story story(new_group(0));
  story.start();
  for (const unsigned node : {1u, 2u, 3u, 4u}) CHECK(story.unfenced(node).empty());
  SECTION("one is recovering") {
    CHECK(story.recovering(5).empty());
    CHECK(story.machine.standing(4).recovering);
  }
  SECTION("one may be admitted later only (rule F7)") {
    CHECK(story.unfenced(5, 0, 10s).empty());
    CHECK(story.state(5) == State::early);
  }
  SECTION("one is missing") {
    CHECK(story.says(5, "refused").empty());
    CHECK(story.state(5) == State::unknown);
  }
  SECTION("one goes missing while the counters are read") {
    CHECK(story.unfenced(5) == "read 1 2 3 4 5");
    for (const unsigned node : {1u, 2u, 3u, 4u}) CHECK(story.unfenced(node).empty());
    CHECK(story.says(5, "broken").empty());
    CHECK(story.machine.standing(4).answer.kind == AnswerKind::broken);
  }
  CHECK(story.machine.outcome() == AdmissionOutcome::refused);
}

TEST_CASE("a new group of which hardly anyone answers is no quorum") {
  Story story(new_group(0));
  story.start();
  story.unfenced(1);
  story.unfenced(2);
  for (const unsigned node : {3u, 4u, 5u}) story.says(node, "refused");
  CHECK(story.machine.outcome() == AdmissionOutcome::no_quorum);
}

TEST_CASE("a new group in which one node could not write its floor says so") {
  Story story(new_group(0));
  story.start();
  for (int question = 0; question < 2; ++question) {
    for (const unsigned node : {1u, 2u, 3u, 4u, 5u}) story.unfenced(node);
  }
  for (const unsigned node : {1u, 2u, 3u, 4u}) story.ok(node);
  story.says(5, "-ERR the ledger cannot be written");
  CHECK(story.machine.outcome() == AdmissionOutcome::refused);
  CHECK(story.state(1) == State::admitted);
  CHECK(story.state(5) == State::failed);
}
