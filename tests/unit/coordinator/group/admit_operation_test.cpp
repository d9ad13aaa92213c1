// Admission over a Group's links: in the background, and for an operator.
#include "coordinator/group/group.h"
#include "tests/unit/coordinator/group/fake_nodes.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

using State = Admission::Standing::State;

// Five redlock-nodes whose counters are at 70; some of them have lost their ledger.
struct Losses : FakeNodes {
  explicit Losses(std::initializer_list<unsigned> unfenced) {
    fenced(70);
    for (const unsigned lost : unfenced) {
      node(lost).fenced = false;
      node(lost).counter = 0;
    }
  }

  void restart(unsigned number) {
    node(number).fenced = false;
    node(number).counter = 0;
    cut(number);
  }

  AdmitResult admit(OperatorsFloor by_operator = {}) {
    std::optional<AdmitResult> result;
    group().admit(by_operator, now(), [&](AdmitResult got) { result = std::move(got); });
    for (int i = 0; i < 100 && !result; ++i) advance(100ms);
    return std::move(result).value();
  }
};

}  // namespace

TEST_CASE("an unfenced node is admitted by any coordinator that meets it (rule F6)") {
  Losses world({2});
  world.start();
  CHECK(world.node(2).fenced);
  CHECK(world.node(2).counter == 70);
}

TEST_CASE("it is admitted when its time is over, and not before (rule F7)") {
  Losses world({2});
  world.node(2).admit_from = world.now() + 3s;
  world.start();
  world.advance(2999ms);
  CHECK_FALSE(world.node(2).fenced);
  world.advance(1ms);
  CHECK(world.node(2).fenced);
}

TEST_CASE("a recovering node tells its counter; one that is unfenced takes no floor yet") {
  Losses world({2});
  world.node(4).recovering = world.node(5).recovering = true;
  world.node(4).counter = world.node(5).counter = 90;
  world.start();
  CHECK(world.node(2).fenced);
  CHECK(world.node(2).counter == 90);
}

TEST_CASE("a node that comes back without its ledger is admitted again") {
  Losses world({});
  world.start();
  world.restart(3);
  world.advance(1s);
  CHECK(world.node(3).fenced);
  CHECK(world.node(3).counter == 70);
}

TEST_CASE("while no quorum is fenced it is tried again and again, in vain, and costs no lock") {
  Losses world({1, 2, 3});
  world.start();
  CHECK(world.acquire("printer")->outcome == AcquisitionOutcome::unfenced);
  world.advance(1min);
  CHECK_FALSE(world.node(1).fenced);
  CHECK(world.admit().outcome == AdmissionOutcome::needs_operator);
  SECTION("until somebody has helped") {
    world.node(3).fenced = true;  // an operator, elsewhere
    world.advance(AdmissionSchedule::kBackoffMax);
    CHECK(world.node(1).fenced);
    CHECK(world.node(2).fenced);
  }
}

TEST_CASE("an acquisition that lacks a token admits who can give one, and tries once more") {
  // The locks of nodes 1 to 3 are a quorum; 4 and 5 are recovering, and tell no more than counters.
  Losses world({3});
  world.node(4).recovering = world.node(5).recovering = true;
  std::optional<AcquireResult> got;
  const auto acquire = [&] {
    world.group().acquire({.name = "printer"}, world.now(),
                          [&](AcquireResult result) { got = std::move(result); });
    world.settle();
  };
  SECTION("if that is possible now") {
    world.node(3).admit_from = world.now() + 2s;
    world.start();
    acquire();
    CHECK(got.value().outcome == AcquisitionOutcome::unfenced);
  }
  SECTION("else while the admission is under way: it waits for their counters") {
    world.node(1).hung = world.node(2).hung = true;
    world.start();
    SECTION("which has helped when the last vote comes") {
      world.node(2).hangs_at = "LOCK.ACQUIRE";
      acquire();
      world.node(1).hung = world.node(2).hung = false;
      world.settle();
      CHECK(world.node(3).fenced);
      CHECK_FALSE(got);
      world.go_on(2);
      CHECK(got.value().outcome == AcquisitionOutcome::acquired);
    }
    SECTION("which goes on when it comes") {
      acquire();
      world.node(1).hung = world.node(2).hung = false;
      world.node(3).hangs_at = "LOCK.FENCE";  // at the floor, with what disk it has
      world.advance(499ms);
      CHECK_FALSE(got);
      SECTION("and helps") {
        world.go_on(3);
        CHECK(got.value().outcome == AcquisitionOutcome::acquired);
        CHECK(got->lock.token > 70);
        CHECK(got->lock.valid_until == world.acquire("scanner")->lock.valid_until);
      }
      SECTION("but for a node timeout at most") {
        world.advance(1ms);
        CHECK(got.value().outcome == AcquisitionOutcome::unfenced);
      }
    }
  }
}

TEST_CASE("a hung node delays an admission by the node timeout, and no lock") {
  Losses world({1});
  world.node(5).hung = true;
  world.start();
  CHECK(world.acquire("printer")->outcome == AcquisitionOutcome::acquired);
  CHECK_FALSE(world.node(1).fenced);
  world.advance(500ms);
  CHECK(world.node(1).fenced);
}

TEST_CASE("a floor never goes out on another connection than the one that was looked at") {
  Losses world({1});
  world.node(1).admit_from = world.now() + 1s;
  world.start();
  for (const unsigned node : {2u, 3u, 4u, 5u}) world.node(node).hung = true;
  world.advance(1s);  // it is looked at; the others let the coordinator wait for their counters
  world.restart(1);
  for (const unsigned node : {2u, 3u, 4u, 5u}) world.node(node).hung = false;
  world.node(1).admit_from = world.now() + 5s;
  world.advance(4s);
  CHECK_FALSE(world.node(1).fenced);
  world.advance(2s);
  CHECK(world.node(1).fenced);
}

TEST_CASE("an operator hears of each node") {
  Losses world({2, 3});
  world.node(3).admit_from = world.now() + 10s;
  world.start();
  world.node(4).down = true;
  world.cut(4);
  world.node(5).recovering = true;
  const AdmitResult first = world.admit();
  CHECK(first.outcome == AdmissionOutcome::refused);
  CHECK(first.nodes[0].state == State::fenced);
  CHECK(first.nodes[0].counter == 70);
  CHECK(first.nodes[3].answer.kind == AnswerKind::broken);
  CHECK_FALSE(first.nodes[0].recovering);
  CHECK(first.nodes[4].recovering);
  CHECK(first.nodes[1].state == State::fenced);  // in the background, when it was met
  CHECK(first.nodes[2].state == State::early);
  CHECK(first.nodes[2].admit_in == 10s);
  world.advance(10s);
  CHECK(world.admit().outcome == AdmissionOutcome::done);
}

TEST_CASE("of two that admit a node at once one is told that it was fenced already") {
  Losses world({1});
  world.node(1).admit_from = world.now() + 10s;
  world.start();
  world.node(1).admit_from = world.now();  // what the group itself does is yet to come
  std::vector<AdmitResult> results;
  for (int i = 0; i < 2; ++i) {
    world.group().admit({}, world.now(),
                        [&](AdmitResult got) { results.push_back(std::move(got)); });
  }
  world.settle();
  REQUIRE(results.size() == 2);
  CHECK(results[0].nodes[0].state == State::admitted);
  CHECK(results[1].nodes[0].state == State::fenced);
}

TEST_CASE("a new group is admitted on its operator's word, once all nodes are there") {
  Losses world({1, 2, 3, 4, 5});
  world.node(5).down = true;
  world.start();
  CHECK(world.admit({.new_group = true, .floor = 1000}).outcome == AdmissionOutcome::refused);
  CHECK_FALSE(world.node(1).fenced);
  world.node(5).down = false;
  world.advance(2s);
  const AdmitResult done = world.admit({.new_group = true, .floor = 1000});
  CHECK(done.outcome == AdmissionOutcome::done);
  CHECK(done.floor == 1000);
  CHECK(world.acquire("printer")->lock.token == 1001);
}

TEST_CASE("where a quorum of ledgers is lost, no floor is below the bound of a fenced node") {
  Losses world({1, 2, 3});
  world.node(4).bound = 2000;
  world.start();
  CHECK(world.admit({.new_group = true, .floor = 1999}).outcome == AdmissionOutcome::floor_too_low);
  CHECK(world.admit({.new_group = true, .floor = 2000}).outcome == AdmissionOutcome::done);
}

TEST_CASE("plain Redis servers are nobody to be admitted") {
  FakeNodes world;
  world.start();
  std::optional<AdmitResult> result;
  world.group().admit({}, world.now(), [&](AdmitResult got) { result = std::move(got); });
  world.settle();
  REQUIRE(result);
  CHECK(result->outcome == AdmissionOutcome::no_quorum);
  CHECK(answer_text(result->nodes[0].answer) == "a plain Redis has no fencing tokens");
}

TEST_CASE("a counter in another form than a counter's is none, and the operator reads what it is") {
  Losses world({1});
  world.node(1).admit_from = world.now() + 10s;
  world.start();
  world.node(1).admit_from = world.now();
  const std::int64_t most = kTokenMax;
  world.node(2).odd_read =
      GENERATE_COPY(std::vector<std::int64_t>{-1, 1}, std::vector<std::int64_t>{most + 1, 1},
                    std::vector<std::int64_t>{70, 2}, std::vector<std::int64_t>{70},
                    std::vector<std::int64_t>{70, 1, 1});
  const AdmitResult done = world.admit();
  CHECK(done.outcome == AdmissionOutcome::done);
  CHECK(done.nodes[1].answer.kind == AnswerKind::error);
  CHECK_THAT(done.nodes[1].answer.text, Catch::StartsWith("unexpected reply"));
}

TEST_CASE("an answer to the question before is none to this one") {
  Losses world({1});
  world.node(1).admit_from = world.now() + 10s;
  world.start();
  world.node(1).admit_from = world.now();
  world.node(5).hangs_at = "LOCK.STATUS";
  std::optional<AdmitResult> result;
  world.group().admit({}, world.now(), [&](AdmitResult got) { result = std::move(got); });
  world.advance(500ms);
  REQUIRE_FALSE(result);  // the others have told their counters
  world.go_on(5);
  REQUIRE(result);
  CHECK(result->outcome == AdmissionOutcome::done);
  CHECK(result->nodes[4].answer.kind == AnswerKind::yes);
}

TEST_CASE("an admission that begins before its nodes are met counts from their answers on") {
  Losses world({1});
  world.group().start(world.now());
  const AdmitResult done = world.admit();
  CHECK(done.outcome == AdmissionOutcome::done);
  CHECK(world.node(1).fenced);
}

TEST_CASE("an acquisition that is cancelled while it waits for an admission is told of none") {
  Losses world({3});
  world.node(4).recovering = world.node(5).recovering = true;
  world.node(1).hung = world.node(2).hung = true;
  world.start();
  bool is_told = false;
  const OperationId id = world.group().acquire({.name = "printer"}, world.now(),
                                               [&](const AcquireResult&) { is_told = true; });
  world.settle();
  world.node(1).hung = world.node(2).hung = false;
  world.node(3).hangs_at = "LOCK.FENCE";
  world.advance(100ms);
  world.group().cancel(id, world.now());
  world.go_on(3);
  CHECK(world.node(3).fenced);
  world.advance(1s);
  CHECK_FALSE(is_told);
}
