#include "coordinator/quorum/acquisition.h"

#include "tests/unit/coordinator/quorum/machine_fixture.h"

using namespace redlock;
using namespace redlock::coordinator;

using Attempt = MachineFixture<Acquisition>;

TEST_CASE("all nodes are asked at once, and the third grant of five decides (rule Q1)") {
  Attempt attempt(five_nodes());
  CHECK(attempt.start() == "ask 1 2 3 4 5");
  CHECK(attempt(4, "+OK").empty());
  CHECK(attempt(1, "(nil)").empty());
  CHECK(attempt(2, "+OK").empty());
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt(5, "+OK", 7ms) == "withdraw 3");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
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
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
}

TEST_CASE("three refusals of five decide: held, and undone at every node (rule Q3)") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "(nil)");
  attempt(2, "+OK");
  attempt(3, "(nil)");
  CHECK(attempt(4, "(nil)") == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::held);
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
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
}

TEST_CASE("a recovering node's refusal is no answer, and its words are kept (rule R10)") {
  Attempt attempt(five_nodes());
  attempt.start();
  const std::string words = "-ERR recovering after a restart, no new locks for 12300 ms";
  attempt(1, words);
  attempt(2, words);
  attempt(3, words);
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
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
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
  CHECK(answer_text(attempt.machine.answers()[2]) == "no answer within 500 ms");
  CHECK(attempt.machine.answers()[2].took == 500ms);
}

TEST_CASE("a quorum that comes when the validity is used up is not an acquisition (rule Q2)") {
  Attempt attempt(five_nodes(100ms));
  attempt.start();
  attempt(1, "+OK");
  attempt(2, "+OK");
  CHECK(attempt(3, "+OK", 97ms) == "undo 1 2 3 4 5");  // 100 - 1 - 2 = 97
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::too_late);
}

TEST_CASE("the validity counts from before the first byte, whenever the answers came") {
  Attempt attempt(five_nodes(100ms));
  attempt.start(10ms);
  attempt(1, "+OK", 20ms);
  attempt(2, "+OK", 30ms);
  attempt(3, "+OK", 106ms);
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
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
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
  CHECK(attempt.machine.answers()[4].took == 4ms);
}

TEST_CASE("an abandoned attempt is undone everywhere, once") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "+OK");
  Actions actions;
  attempt.machine.abandon(actions);
  CHECK(text_of(actions) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::abandoned);
  CHECK(attempt(2, "+OK").empty());
}

TEST_CASE("a node votes once") {
  Attempt attempt(five_nodes());
  attempt.start();
  for (int i = 0; i < 5; ++i) CHECK(attempt(1, "+OK").empty());
  CHECK_FALSE(attempt.machine.finished());
}

TEST_CASE("one node is a quorum of one") {
  Attempt attempt(
      {.nodes = 1, .ttl = 1s, .node_timeout = 100ms, .clock_drift = 0.01, .fencing = false});
  CHECK(attempt.start() == "ask 1");
  CHECK(attempt(1, "+OK").empty());
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
}

TEST_CASE("a quorum that proposes the same token has accepted it: one round trip (rule F3)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=7");
  attempt(2, "p=7");
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt(3, "p=7") == "withdraw 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
  CHECK(attempt.machine.token() == 7);
  CHECK(attempt.machine.round_trips() == 1);
}

TEST_CASE("the token is the largest proposal of a quorum; the others confirm it (rule F3)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  CHECK(attempt(3, "p=7") == "confirm 1 3");
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt.confirmed(1, "(integer) 1").empty());
  CHECK(attempt.confirmed(3, "(integer) 1") == "withdraw 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
  CHECK(attempt.machine.token() == 9);
  CHECK(attempt.machine.round_trips() == 2);
}

TEST_CASE("a node that grants while the token is confirmed is asked to confirm it too (rule F3)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  attempt(3, "p=7");
  CHECK(attempt(4, "p=6") == "confirm 4");
  attempt.confirmed(1, "broken");
  attempt.confirmed(3, "(integer) 1");
  CHECK(attempt.confirmed(4, "(integer) 1") == "withdraw 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
}

TEST_CASE("a late proposal that equals the token has accepted it, a larger one cannot (rule F3)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  attempt(3, "p=9");
  CHECK(attempt(4, "p=10").empty());
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt(5, "p=9").empty());
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
  CHECK(attempt.machine.token() == 9);
  CHECK(attempt.machine.round_trips() == 1);
}

TEST_CASE("an unfenced node's confirm counts: it remembers the token in this life (rule F6)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=0");
  attempt(2, "p=9");
  attempt(3, "p=7");
  CHECK(attempt(4, "p=7") == "confirm 1 3 4");
  attempt.confirmed(1, "(integer) 1");
  attempt.confirmed(3, "(integer) 1");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
}

TEST_CASE("the token is given only while the validity, read again, still stands (rules F3, Q2)") {
  Attempt attempt(five_fenced_nodes(100ms));
  attempt.start();
  attempt(1, "p=5", 10ms);
  attempt(2, "p=9", 10ms);
  attempt(3, "p=9", 10ms);
  CHECK(attempt.confirmed(1, "(integer) 1", 97ms) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::too_late);
}

TEST_CASE("a quorum of locks waits for a quorum of proposals while there can be one (rule F4)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=0");
  attempt(2, "p=7");
  CHECK(attempt(3, "p=7").empty());
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt(4, "p=7") == "confirm 1; withdraw 5");
  CHECK(attempt.machine.token() == 7);
  CHECK(attempt.machine.round_trips() == 1);
}

TEST_CASE("a quorum of locks without a quorum of proposals fails, and is undone (rule F4)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=0");
  attempt(2, "p=0");
  CHECK(attempt(3, "p=0") == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::unfenced);
  CHECK(attempt.machine.token() == 0);
}

TEST_CASE("proposals that never come are waited for until the node timeout, no longer (rule F4)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=0");
  attempt(2, "p=7");
  attempt(3, "p=7");
  CHECK(attempt.machine.next_deadline() == at(500ms));
  CHECK(attempt.time(500ms) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::unfenced);
}

TEST_CASE("held is held, fenced or not (rule F4)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=0");
  attempt(2, "(nil)");
  attempt(3, "(nil)");
  attempt(4, "(nil)");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::held);
}

TEST_CASE("without fencing a quorum of locks is enough, and no token is told (rule F4)") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=0");
  CHECK(attempt(3, "p=9") == "withdraw 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
  CHECK(attempt.machine.token() == 0);
  CHECK(attempt.machine.round_trips() == 1);
}

TEST_CASE("who does not confirm by the node timeout counts as silent") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5", 100ms);
  attempt(2, "p=9", 100ms);
  attempt(3, "p=7", 100ms);
  CHECK(attempt.machine.next_deadline() == at(500ms));  // of the nodes that have not granted
  CHECK(attempt.time(500ms).empty());
  CHECK(attempt.machine.next_deadline() == at(600ms));
  CHECK(attempt.time(600ms) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
  CHECK(answer_text(attempt.machine.answers()[0]) == "no answer within 500 ms");
  CHECK(attempt.machine.answers()[0].took == 600ms);
  CHECK(attempt.machine.answers()[1].took == 100ms);
}

TEST_CASE(
    "who was silent too long is not sent the request when the token is confirmed after that") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5", 300ms);
  attempt(2, "p=9", 300ms);
  attempt(3, "p=9", 300ms);
  CHECK(attempt.time(500ms).empty());
  CHECK(attempt.confirmed(1, "(integer) 1", 700ms) == "withdraw 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
}

TEST_CASE("a token that no quorum can take any more fails at once (rules F3, Q1)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  attempt(4, "(nil)");
  attempt(5, "(nil)");
  CHECK(attempt(3, "p=7") == "confirm 1 3");
  CHECK(attempt.confirmed(1, "(integer) 0") == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
  CHECK_THAT(answer_text(attempt.machine.answers()[0]),
             Catch::StartsWith("did not take the token"));
}

TEST_CASE("an attempt that is abandoned while its token is confirmed is undone") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  attempt(3, "p=7");
  Actions actions;
  attempt.machine.abandon(actions);
  CHECK(text_of(actions) == "undo 1 2 3 4 5");
  CHECK(attempt.confirmed(1, "(integer) 1").empty());
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::abandoned);
}

TEST_CASE("a node confirms once, and who was not asked does not count twice") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  attempt(3, "p=7");
  for (int i = 0; i < 3; ++i) attempt.confirmed(1, "(integer) 1");
  CHECK_FALSE(attempt.machine.finished());
}

TEST_CASE("an answer to a confirm that comes late to an acquired lock changes nothing") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  attempt(3, "p=7");
  CHECK(attempt(4, "p=9").empty());
  CHECK(attempt.confirmed(1, "(integer) 1") == "withdraw 5");
  CHECK(attempt.confirmed(3, "(integer) 1").empty());
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
}

TEST_CASE("a confirm that nobody was asked for is no round trip") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=5");
  attempt(2, "p=9");
  attempt(3, "p=9");
  attempt.confirmed(2, "(integer) 1");
  attempt(4, "p=9");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
  CHECK(attempt.machine.round_trips() == 1);
}

TEST_CASE("who was silent too long takes no token: where none is left, that is said at once") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(2, "(nil)", 100ms);
  attempt(3, "p=9", 100ms);
  attempt(4, "p=9", 100ms);
  CHECK(attempt(5, "p=7", 100ms) == "confirm 5");
  CHECK(attempt.confirmed(5, "broken", 200ms).empty());
  CHECK(attempt.time(500ms) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
}

TEST_CASE("a proposal a leap above the q-th largest counts, one above that does not (rule F3)") {
  const Token first = GENERATE(Token{1}, Token{7});
  const std::string usual = "p=" + std::to_string(first);
  const Token most = first + kLeapMax;
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, usual);
  attempt(2, usual);
  SECTION("at most a leap") {
    CHECK(attempt(3, "p=" + std::to_string(most)) == "confirm 1 2");
    CHECK(attempt.machine.token() == most);
  }
  SECTION("more: others are waited for, and it has not taken their token") {
    CHECK(attempt(3, "p=" + std::to_string(most + 1)).empty());
    CHECK(attempt.machine.token() == 0);
    CHECK(attempt(4, usual) == "withdraw 5");
    CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
    CHECK(attempt.machine.token() == first);
  }
  SECTION("more, and nobody else answers") {
    attempt(3, "p=" + std::to_string(most + 1));
    CHECK(attempt(4, "broken").empty());
    CHECK(attempt(5, "broken") == "undo 1 2 3 4 5");
    CHECK(attempt.machine.outcome() == AcquisitionOutcome::unfenced);
  }
}

TEST_CASE("also one node that has not answered may make the quorum of proposals (rule F4)") {
  Attempt attempt(five_fenced_nodes());
  attempt.start();
  attempt(1, "p=0");
  attempt(2, "p=0");
  attempt(3, "p=1");
  CHECK(attempt(4, "p=1").empty());
  CHECK(attempt(5, "p=1") == "confirm 1 2");
  CHECK(attempt.machine.token() == 1);
}

TEST_CASE("for people, every node is heard before it is said that there are no tokens") {
  Terms terms = five_fenced_nodes();
  terms.hear_everyone = true;
  Attempt attempt(terms);
  attempt.start();
  SECTION("none is proposed") {
    for (const unsigned node : {1u, 2u, 3u, 4u}) CHECK(attempt(node, "p=0").empty());
    attempt(5, "refused");
    CHECK(attempt.machine.outcome() == AcquisitionOutcome::unfenced);
  }
  SECTION("none is taken") {
    attempt(1, "p=5");
    attempt(2, "p=9");
    attempt(3, "p=7");
    attempt.confirmed(1, "broken");
    attempt.confirmed(3, "broken");
    CHECK(attempt(4, "refused").empty());
    CHECK(attempt(5, "refused") == "undo 1 2 3");
    CHECK(attempt.machine.outcome() == AcquisitionOutcome::no_quorum);
  }
}

TEST_CASE("a quorum that answers just within the time given has acquired the lock (rule D2)") {
  Terms terms = five_nodes();
  terms.acquire_within = 100ms;
  Attempt attempt(terms);
  attempt.start();
  attempt(1, "+OK");
  attempt(2, "+OK");
  SECTION("within") {
    attempt(3, "+OK", 100ms);
    CHECK(attempt.machine.outcome() == AcquisitionOutcome::acquired);
  }
  SECTION("later") {
    attempt(3, "+OK", 100ms + 1ns);
    CHECK(attempt.machine.outcome() == AcquisitionOutcome::too_late);
  }
}
