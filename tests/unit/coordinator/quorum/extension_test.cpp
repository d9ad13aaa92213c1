#include "coordinator/quorum/extension.h"

#include "tests/unit/coordinator/quorum/machine_fixture.h"

using namespace redlock;
using namespace redlock::coordinator;

using Attempt = MachineFixture<Extension>;

TEST_CASE("a quorum of nodes that still hold it extends a lock (rule Q4)") {
  Attempt attempt(five_nodes(), at(20s));
  CHECK(attempt.start(10s) == "ask 1 2 3 4 5");
  attempt(1, "(integer) 1", 10s);
  attempt(2, "(integer) 0", 10s);
  attempt(3, "(integer) 1", 10s);
  CHECK(attempt(4, "(integer) 1", 10s) == "withdraw 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::extended);
  CHECK(attempt.machine.valid_until() == at(10s + 30s - 300ms - 2ms));
}

TEST_CASE("a shorter TTL never brings the validity forward") {
  Attempt attempt(five_nodes(1s), at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "(integer) 1", 10s);
  CHECK(attempt.machine.outcome() == ExtensionOutcome::extended);
  CHECK(attempt.machine.valid_until() == at(20s));
}

TEST_CASE("a lock whose validity has run out is not even asked for: it is never revived") {
  Attempt attempt(five_nodes(), at(20s));
  CHECK(attempt.start(20s).empty());
  CHECK(attempt.machine.outcome() == ExtensionOutcome::lost);
}

TEST_CASE("a validity that runs out before the deciding reply is lost, whatever the nodes say") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(19900ms);
  attempt(1, "(integer) 1", 19950ms);
  attempt(2, "(integer) 1", 19950ms);
  CHECK(attempt.machine.next_deadline() == at(20s));
  CHECK(attempt(3, "(integer) 1", 20s) == "withdraw 4 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::lost);
}

TEST_CASE("the end of the validity ends the extension by itself") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(19900ms);
  attempt.time(20s);
  CHECK(attempt.machine.outcome() == ExtensionOutcome::lost);
}

TEST_CASE("three nodes without it prove the loss") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "(integer) 0", 10s);
  CHECK(attempt.machine.outcome() == ExtensionOutcome::lost);
}

TEST_CASE("silent nodes prove nothing: the old validity stands and the holder may try again") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  attempt(1, "(integer) 0", 10s);
  attempt(2, "refused", 10s);
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt.time(10500ms) == "withdraw 3 4 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::no_quorum);
  CHECK(attempt.machine.valid_until() == at(20s));
}

TEST_CASE("without knowing the old validity the nodes alone decide") {
  Attempt attempt(five_nodes(), kNever);
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "(integer) 1", 10s);
  CHECK(attempt.machine.outcome() == ExtensionOutcome::extended);
  CHECK(attempt.machine.valid_until() == at(10s + 30s - 300ms - 2ms));
}

TEST_CASE("nodes that were topped up make a quorum with those that still held it (rule Q4)") {
  Attempt attempt(five_nodes(), at(20s));
  CHECK(attempt.machine.tops_up());
  attempt.start(10s);
  attempt(1, "(integer) 1", 10s);
  attempt(2, "(integer) 2", 10s);
  CHECK(attempt(3, "(integer) 2", 10s) == "withdraw 4 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::extended);
}

TEST_CASE("a top-up counts only when the deciding reply is read before the validity ends (Q4)") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(19900ms);
  attempt(1, "(integer) 1", 19950ms);
  attempt(2, "(integer) 2", 19950ms);
  CHECK(attempt(3, "(integer) 2", 20s) == "undo 2 3; withdraw 4 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::lost);
}

TEST_CASE("a top-up whose extension failed is released at that node, at no other (rule Q4)") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  attempt(1, "(integer) 1", 10s);
  attempt(2, "(integer) 2", 10s);
  CHECK(attempt.time(10500ms) == "undo 2; withdraw 3 4 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::no_quorum);
  CHECK(attempt.machine.valid_until() == at(20s));
}

TEST_CASE("a validity that is not known sends no top-up (rule Q4)") {
  Attempt attempt(five_nodes(), kNever);
  CHECK_FALSE(attempt.machine.tops_up());
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "(integer) 1", 10s);
  CHECK(attempt.machine.outcome() == ExtensionOutcome::extended);
  CHECK_FALSE(attempt.machine.tops_up());
}

TEST_CASE("an abandoned extension takes its top-ups back") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  attempt(1, "(integer) 1", 10s);
  attempt(2, "(integer) 2", 10s);
  Actions actions;
  attempt.machine.abandon(actions);
  CHECK(text_of(actions) == "undo 2; withdraw 3 4 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::abandoned);
}

TEST_CASE("where no node has it any more it was released: nothing is revived (rule Q4)") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u, 4u}) CHECK(attempt(node, "(integer) 2", 10s).empty());
  CHECK(attempt(5, "(integer) 2", 10s) == "undo 1 2 3 4 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::lost);
}

TEST_CASE("one node that still has it makes the top-ups count, also the last to answer (rule Q4)") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u, 4u}) attempt(node, "(integer) 2", 10s);
  CHECK(attempt(5, "(integer) 1", 10s).empty());
  CHECK(attempt.machine.outcome() == ExtensionOutcome::extended);
}

TEST_CASE("a silent node may be the one that still has it: not known (rule Q4)") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u, 4u}) attempt(node, "(integer) 2", 10s);
  CHECK(attempt.time(10500ms) == "undo 1 2 3 4; withdraw 5");
  CHECK(attempt.machine.outcome() == ExtensionOutcome::no_quorum);
}

TEST_CASE("what is extended by less than the nodes took to answer is no quorum's (rule Q2)") {
  Attempt attempt(five_nodes(100ms), at(20s));
  attempt.start(10s);
  attempt(1, "(integer) 1", 10s);
  attempt(2, "(integer) 1", 10s);
  attempt(3, "(integer) 1", 10s + 97ms);  // 100 - 1 - 2 = 97
  CHECK(attempt.machine.outcome() == ExtensionOutcome::no_quorum);
  CHECK(attempt.machine.valid_until() == at(20s));
}

TEST_CASE("for people, every node is heard before it is said that an extension has no quorum") {
  Terms terms = five_nodes();
  terms.hear_everyone = true;
  Attempt attempt(terms, at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u, 4u}) attempt(node, "refused", 10s);
  CHECK_FALSE(attempt.machine.finished());
  attempt(5, "(integer) 1", 10s);
  CHECK(attempt.machine.outcome() == ExtensionOutcome::no_quorum);
}

TEST_CASE("what comes after an extension's end changes nothing") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "(integer) 1", 10s);
  CHECK_FALSE(attempt.machine.next_deadline());
  CHECK(attempt(4, "(integer) 2", 10s).empty());
  CHECK(attempt.time(1h).empty());
  Actions actions;
  attempt.machine.abandon(actions);
  CHECK(actions.empty());
  CHECK(attempt.machine.outcome() == ExtensionOutcome::extended);
}

TEST_CASE("two nodes of five without it prove no loss") {
  Attempt attempt(five_nodes(), at(20s));
  attempt.start(10s);
  for (const unsigned node : {1u, 2u}) attempt(node, "(integer) 0", 10s);
  for (const unsigned node : {3u, 4u}) attempt(node, "refused", 10s);
  CHECK(attempt.machine.outcome() == ExtensionOutcome::no_quorum);
}
