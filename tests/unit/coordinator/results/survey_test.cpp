#include "coordinator/results/survey.h"

#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using protocol::Reply;

namespace {

// As LOCK.HOLDER tells it; token 0: none is stored with it.
NodeFinding holds(std::string value, std::int64_t left_ms, std::int64_t token = 0) {
  Reply told = Reply::array({});
  told.add(Reply::bulk(std::move(value))).add(Reply::integer(left_ms)).add(Reply::integer(token));
  NodeFinding finding{.answer = {.kind = AnswerKind::yes}, .replies = {}};
  finding.replies.push_back(std::move(told));
  return finding;
}

NodeFinding holds_nothing() {
  NodeFinding finding{.answer = {.kind = AnswerKind::yes}, .replies = {}};
  finding.replies.push_back(Reply::null());
  return finding;
}

NodeFinding silent() {
  return {.answer = {.kind = AnswerKind::timed_out}, .replies = {}};
}

std::vector<NodeFinding> five(NodeFinding a, NodeFinding b, NodeFinding c, NodeFinding d,
                              NodeFinding e) {
  std::vector<NodeFinding> findings;
  for (NodeFinding* one : {&a, &b, &c, &d, &e}) findings.push_back(std::move(*one));
  return findings;
}

// A plain Redis: it answers both questions with its INFO.
NodeFinding says(const std::string& info) {
  NodeFinding finding{.answer = {.kind = AnswerKind::yes, .took = 2ms}, .replies = {}};
  finding.replies.push_back(Reply::bulk(info));
  finding.replies.push_back(Reply::bulk(info));
  return finding;
}

// A redlock-node in its restart delay, which has lost its ledger.
NodeFinding says_its_status() {
  Reply status = Reply::map({});
  status.add_field("node_id", Reply::bulk("abc"))
      .add_field("state", Reply::bulk("recovering"))
      .add_field("cause", Reply::bulk("ledger_missing"))
      .add_field("delay_left_ms", Reply::integer(1500))
      .add_field("locks", Reply::integer(3))
      .add_field("counter", Reply::integer(7))
      .add_field("bound", Reply::integer(1048576))
      .add_field("fenced", Reply::integer(0))
      .add_field("admit_in_ms", Reply::integer(900))
      .add_field("max_ttl_ms", Reply::integer(60000))
      .add_field("largest_ttl_ms", Reply::integer(32768))
      .add_field("version", Reply::bulk("1.2.3"));
  NodeFinding finding = says(
      "# Locks\r\nheld:3\r\nwaiters:5\r\nlongest_line:4\r\noldest_wait_ms:1250\r\n# "
      "Clock\r\nsource:CLOCK_MONOTONIC\r\n");
  finding.replies[0] = std::move(status);
  return finding;
}

}  // namespace

TEST_CASE("the holder is who has a quorum, for as long as the quorum will last") {
  const auto holder = holder_of(
      five(holds("a", 900), holds("b", 5000), holds("a", 700), silent(), holds("a", 800)));
  REQUIRE(holder);
  CHECK(holder->value == "a");
  CHECK(holder->nodes == 3);
  CHECK(holder->left == 700ms);
  CHECK(holder_of(five(holds("a", 900), holds("a", 600), holds("a", 700), holds("a", 100),
                       holds_nothing()))
            ->left == 600ms);
}

TEST_CASE("a key without a deadline, as people set them at a plain Redis, is held for ever") {
  const auto for_ever =
      holder_of(five(holds("a", -1), holds("a", -1), holds("a", -1), silent(), silent()));
  REQUIRE(for_ever);
  CHECK(for_ever->left == Duration::max());
  CHECK(holder_of(five(holds("a", -1), holds("a", 700), holds("a", -1), holds("a", 900), silent()))
            ->left == 900ms);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(holder_of(five(holds("a", kMost), holds("a", kMost), holds("a", kMost), silent(), silent()))
            ->left == Duration::max());
}

TEST_CASE("what is asked in a survey stands there before any object is made") {
  static_assert(kHolderQuestions.size() == 1 && kStateQuestions.size() == 2);
}

TEST_CASE("nobody holds what no quorum has") {
  CHECK_FALSE(holder_of(
      five(holds("a", 900), holds("b", 900), holds("a", 900), holds("b", 900), holds_nothing())));
  CHECK_FALSE(holder_of(five(silent(), silent(), silent(), silent(), silent())));
}

TEST_CASE("a token is what a quorum stores with the value that it holds (rule F5)") {
  const auto settled = holder_of(
      five(holds("a", 900, 7), holds("a", 900, 7), holds("a", 900, 5), silent(), holds("a", 1, 7)));
  CHECK(settled->token == 7);
  const auto proposals = holder_of(
      five(holds("a", 900, 7), holds("a", 900, 6), holds("a", 900, 5), silent(), holds("a", 1, 7)));
  REQUIRE(proposals);
  CHECK(proposals->token == 0);
  const auto of_another = holder_of(five(holds("a", 900, 7), holds("a", 900, 7), holds("b", 900, 7),
                                         holds("a", 900), holds_nothing()));
  CHECK(of_another->token == 0);
  const auto without = holder_of(
      five(holds("a", 900), holds("a", 900), holds("a", 900), holds("a", 900), holds("a", 900)));
  CHECK(without->token == 0);
}

TEST_CASE("a node's state is what its LOCK.STATUS says, and its clock what INFO says") {
  const NodeState node = node_state("n1", says_its_status(), 0.01);
  CHECK(node.answer.node == "n1");
  CHECK(node.answer.took == 2ms);
  CHECK(node.state == "recovering");
  CHECK_FALSE(node.grants);
  CHECK(node.cause == "ledger_missing");
  CHECK(node.delay_left == 1500ms);
  CHECK(node.locks == 3);
  CHECK(node.max_ttl == 60s);
  CHECK(node.largest_ttl == 32768ms);
  CHECK(node.counter == 7);
  CHECK(node.bound == 1048576);
  CHECK(node.fenced == false);
  CHECK(node.admit_in == 1500ms);  // it takes no floor while it is recovering
  CHECK(node.clock == "CLOCK_MONOTONIC");
  CHECK(node.node_id == "abc");
  CHECK(node.version == "1.2.3");
  CHECK(node.longest_line == 4);
  CHECK(node.oldest_wait == 1250ms);
}

TEST_CASE("a node whose settings make its votes worth less says which (rule G6)") {
  NodeFinding finding = says_its_status();
  Reply& status = finding.replies[0];
  CHECK(node_state("n1", finding, 0.01).unsafe.empty());
  status.add_field("clock_drift", Reply::bulk("0.01"));
  CHECK(node_state("n1", finding, 0.01).unsafe.empty());
  CHECK_THAT(node_state("n1", finding, 0.009).unsafe,
             Catch::Contains("its clock-drift 0.01 is larger than 0.009"));
  status.add_field("warning", Reply::bulk("restart-delay off is not safe"));
  CHECK(node_state("n1", finding, 0.01).unsafe == "restart-delay off is not safe");
}

TEST_CASE("a plain Redis serves, counts its keys, and knows no delay") {
  const NodeState node = node_state("n1",
                                    says("# Server\r\nredis_version:7.0.15\r\nrun_id:r1\r\n# "
                                         "Keyspace\r\ndb0:keys=7,expires=7,avg_ttl=1\r\n"),
                                    0.01);
  CHECK(node.state == "serving");
  CHECK(node.grants);
  CHECK(node.locks == 7);
  CHECK(node.node_id == "r1");
  CHECK(node.version == "7.0.15");
  CHECK_FALSE(node.delay_left);
  CHECK_FALSE(node.longest_line);
  CHECK_FALSE(node.oldest_wait);
  CHECK_FALSE(node.fenced);
}

TEST_CASE("a node that does not answer grants nothing and says why") {
  const NodeState node = node_state("n1", silent(), 0.01);
  CHECK(node.state == "timed out");
  CHECK_FALSE(node.grants);
}
