#include "coordinator/quorum/release.h"

#include "tests/unit/coordinator/quorum/machine_fixture.h"

using namespace redlock;
using namespace redlock::coordinator;

using Attempt = MachineFixture<Release>;

TEST_CASE("a release is confirmed when a quorum answered and some node deleted it") {
  Attempt attempt(five_nodes());
  CHECK(attempt.start() == "ask 1 2 3 4 5");
  attempt(1, "(integer) 0");
  attempt(2, "(integer) 1");
  CHECK_FALSE(attempt.machine.finished());
  attempt(3, "(integer) 0");
  CHECK(attempt.machine.outcome() == ReleaseOutcome::released);
}

TEST_CASE("a quorum that did not have it says that it was not this holder's any more") {
  Attempt attempt(five_nodes());
  attempt.start();
  for (const unsigned node : {1u, 2u, 3u}) attempt(node, "(integer) 0");
  CHECK(attempt.machine.outcome() == ReleaseOutcome::not_held);
}

TEST_CASE("a release without a quorum of answers is not confirmed") {
  Attempt attempt(five_nodes());
  attempt.start();
  attempt(1, "(integer) 1");
  attempt(2, "(integer) 1");
  attempt(3, "broken");
  CHECK(attempt.time(499ms).empty());
  CHECK_FALSE(attempt.machine.finished());
  CHECK(attempt.machine.next_deadline() == at(500ms));
  attempt.time(500ms);
  CHECK(attempt.machine.outcome() == ReleaseOutcome::no_quorum);
  CHECK_FALSE(attempt.machine.next_deadline());
}

TEST_CASE("for people, every node is heard before it is said how a release ended") {
  Terms terms = five_nodes();
  terms.hear_everyone = true;
  Attempt attempt(terms);
  attempt.start();
  for (const unsigned node : {1u, 2u, 3u, 4u}) attempt(node, "broken");
  CHECK_FALSE(attempt.machine.finished());
  attempt(5, "(integer) 1");
  CHECK(attempt.machine.outcome() == ReleaseOutcome::no_quorum);
}
