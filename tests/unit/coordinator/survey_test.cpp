#include "coordinator/survey.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using protocol::Reply;

namespace {

Finding holds(std::string value, std::int64_t left_ms) {
  Finding finding{.answer = {.kind = AnswerKind::yes}, .replies = {}};
  finding.replies.push_back(Reply::bulk(std::move(value)));
  finding.replies.push_back(Reply::integer(left_ms));
  return finding;
}

Finding holds_nothing() {
  Finding finding{.answer = {.kind = AnswerKind::yes}, .replies = {}};
  finding.replies.push_back(Reply::null());
  finding.replies.push_back(Reply::integer(-2));
  return finding;
}

Finding silent() {
  return {.answer = {.kind = AnswerKind::timed_out}, .replies = {}};
}

std::vector<Finding> five(Finding a, Finding b, Finding c, Finding d, Finding e) {
  std::vector<Finding> findings;
  for (Finding* one : {&a, &b, &c, &d, &e}) findings.push_back(std::move(*one));
  return findings;
}

Finding says(std::string info) {
  Finding finding{.answer = {.kind = AnswerKind::yes, .took = 2ms}, .replies = {}};
  finding.replies.push_back(Reply::bulk(std::move(info)));
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

TEST_CASE("nobody holds what no quorum has") {
  CHECK_FALSE(holder_of(
      five(holds("a", 900), holds("b", 900), holds("a", 900), holds("b", 900), holds_nothing())));
  CHECK_FALSE(holder_of(five(silent(), silent(), silent(), silent(), silent())));
}

TEST_CASE("a node's state is what its INFO says") {
  const NodeState node = node_state(
      "n1", says("# Locks\r\nheld:3\r\n# Restart\r\nstate:recovering\r\ndelay_left_ms:1500\r\n"
                 "# Clock\r\nsource:CLOCK_MONOTONIC\r\n"));
  CHECK(node.answer.node == "n1");
  CHECK(node.answer.took == 2ms);
  CHECK(node.state == "recovering");
  CHECK_FALSE(node.grants);
  CHECK(node.delay_left == 1500ms);
  CHECK(node.locks == 3);
  CHECK_FALSE(node.counter);
  CHECK(node.clock == "CLOCK_MONOTONIC");
}

TEST_CASE("a plain Redis serves, counts its keys, and knows no delay") {
  const NodeState node = node_state("n1", says("# Keyspace\r\ndb0:keys=7,expires=7,avg_ttl=1\r\n"));
  CHECK(node.state == "serving");
  CHECK(node.grants);
  CHECK(node.locks == 7);
  CHECK_FALSE(node.delay_left);
}

TEST_CASE("a node that does not answer grants nothing and says why") {
  const NodeState node = node_state("n1", silent());
  CHECK(node.state == "timed out");
  CHECK_FALSE(node.grants);
}
