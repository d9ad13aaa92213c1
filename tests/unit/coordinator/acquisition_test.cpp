#include "coordinator/acquisition.h"

#include "tests/unit/coordinator/machine_fixture.h"

using namespace redlock;
using namespace redlock::coordinator;

using Attempt = MachineFixture<Acquisition>;
using Outcome = AcquisitionOutcome;

TEST_CASE("all nodes are asked at once, and the third grant of five decides (rule Q1)") {
  Attempt attempt(five_nodes());
  CHECK(attempt.start() == "ask 1 2 3 4 5");
  CHECK(attempt(4, "+OK").empty());
  CHECK(attempt(1, "(nil)").empty());
  CHECK(attempt(2, "+OK").empty());
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt(5, "+OK", 7ms) == "withdraw 3");
  CHECK(attempt.machine.outcome() == Outcome::acquired);
  CHECK_FALSE(attempt.machine.next_deadline().has_value());
}

TEST_CASE("a grant that comes late to an acquired lock changes nothing") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "+OK");
  attempt(2, "+OK");
  attempt(3, "+OK");
  CHECK(attempt(4, "+OK").empty());
  CHECK(attempt(5, "broken").empty());
  CHECK(attempt.time(1h).empty());
  CHECK(attempt.machine.outcome() == Outcome::acquired);
}

TEST_CASE("three refusals of five decide: held, and undone at every node (rule Q3)") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "(nil)");
  attempt(2, "+OK");
  attempt(3, "(nil)");
  CHECK(attempt(4, "(nil)") == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == Outcome::held);
  CHECK(attempt.machine.is_split_vote());
}

TEST_CASE("held by one holder everywhere is no split vote") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "(nil)");
  attempt(3, "(nil)");
  attempt(4, "(nil)");
  CHECK_FALSE(attempt.machine.is_split_vote());
}

TEST_CASE("without a quorum of answers it says so, and undoes what may have been sent") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "+OK");
  attempt(2, "refused");
  attempt(3, "broken");
  CHECK(attempt(4, "refused") == "undo 1 3 5");
  CHECK(attempt.machine.outcome() == Outcome::no_quorum);
}

TEST_CASE("a recovering node's refusal is no answer, and its words are kept (rule R10)") {
  Attempt attempt(five_nodes());
  attempt.start();
  const std::string words = "-ERR recovering after a restart, no new locks for 12300 ms";
  attempt(1, words);
  attempt(2, words);
  attempt(3, words);
  CHECK(attempt.machine.outcome() == Outcome::no_quorum);
  CHECK(attempt.machine.answers()[0].kind == AnswerKind::recovering);
  CHECK(answer_text(attempt.machine.answers()[0]) ==
        "recovering after a restart, no new locks for 12300 ms");
}

TEST_CASE("who has not answered by the node timeout counts as silent") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "+OK");
  attempt(2, "+OK");
  CHECK(attempt.machine.next_deadline() == at(500ms));
  CHECK(attempt.time(499ms).empty());
  CHECK(attempt.time(500ms) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == Outcome::no_quorum);
  CHECK(answer_text(attempt.machine.answers()[2]) == "no answer within 500 ms");
  CHECK(attempt.machine.answers()[2].took == 500ms);
}

TEST_CASE("a quorum that comes when the validity is used up is not an acquisition (rule Q2)") {
  Attempt attempt(five_nodes(100ms));
  attempt.start();
  attempt(1, "+OK");
  attempt(2, "+OK");
  CHECK(attempt(3, "+OK", 97ms) == "undo 1 2 3 4 5");  // 100 - 1 - 2 = 97
  CHECK(attempt.machine.outcome() == Outcome::too_late);
}

TEST_CASE("the validity counts from before the first byte, whenever the answers came") {
  Attempt attempt(five_nodes(100ms));
  attempt.start(10ms);
  attempt(1, "+OK", 20ms);
  attempt(2, "+OK", 30ms);
  attempt(3, "+OK", 106ms);
  CHECK(attempt.machine.outcome() == Outcome::acquired);
  CHECK(attempt.machine.valid_until() == at(107ms));
}

TEST_CASE("for people, every node is heard before it is said that there is no quorum") {
  Terms terms = five_nodes();
  terms.hear_everyone = true;
  Attempt attempt(terms);
  attempt.start();
  for (const unsigned node : {1u, 2u, 3u}) CHECK(attempt(node, "refused").empty());
  attempt(4, "+OK", 3ms);
  CHECK(attempt(5, "+OK", 4ms) == "undo 4 5");
  CHECK(attempt.machine.outcome() == Outcome::no_quorum);
  CHECK(attempt.machine.answers()[4].took == 4ms);
}

TEST_CASE("an abandoned attempt is undone everywhere, once") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "+OK");
  Actions actions;
  attempt.machine.abandon(actions);
  CHECK(text_of(actions) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == Outcome::abandoned);
  CHECK(attempt(2, "+OK").empty());
}

TEST_CASE("a node votes once") {
  Attempt attempt(five_nodes());
  attempt.start();
  for (int i = 0; i < 5; ++i) CHECK(attempt(1, "+OK").empty());
  CHECK_FALSE(attempt.machine.finished());
}

TEST_CASE("one node is a quorum of one") {
  Attempt attempt({.nodes = 1, .ttl = 1s, .node_timeout = 100ms, .clock_drift = 0.01});
  CHECK(attempt.start() == "ask 1");
  CHECK(attempt(1, "+OK").empty());
  CHECK(attempt.machine.outcome() == Outcome::acquired);
}
