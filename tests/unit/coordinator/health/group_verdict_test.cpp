#include "coordinator/health/group_verdict.h"

#include "base/time.h"
#include "coordinator/health/status_table.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

using Level = GroupVerdict::Level;
using States = std::vector<NodeState>;

NodeState serving(int number) {
  NodeState node{.answer = {.node = "node" + std::to_string(number),
                            .kind = AnswerKind::yes,
                            .text = {},
                            .took = 200us},
                 .state = "serving",
                 .grants = true};
  node.locks = 12;
  node.max_ttl = 60s;
  node.counter = 100;
  node.fenced = true;
  node.ledger_id = "l" + std::to_string(number);
  node.clock_drift = "0.01";
  node.version = "0.1.0";
  return node;
}

NodeState silent(int number, AnswerKind kind = AnswerKind::refused, std::string text = "refused") {
  NodeState node{.answer = {.node = "node" + std::to_string(number), .kind = kind, .text = text}};
  node.state = text;
  return node;
}

NodeState recovering(int number, Duration left) {
  NodeState node = serving(number);
  node.state = "recovering";
  node.cause = "crash";
  node.grants = false;
  node.delay_left = left;
  return node;
}

NodeState unfenced(int number) {
  NodeState node = serving(number);
  node.cause = "ledger_missing";
  node.fenced = false;
  return node;
}

NodeState plain(int number) {
  NodeState node{.answer = {.node = "node" + std::to_string(number), .kind = AnswerKind::yes},
                 .state = "serving",
                 .grants = true};
  node.is_plain = true;
  node.version = "7.0.15";
  return node;
}

States five() {
  return {serving(1), serving(2), serving(3), serving(4), serving(5)};
}

GroupVerdict judged(const States& states) {
  return judge_group(states, false);
}

bool notes(const States& states, std::string_view line) {
  const auto& all = judged(states).notes;
  return std::find(all.begin(), all.end(), line) != all.end();
}

}  // namespace

TEST_CASE("five nodes that grant, are fenced and agree are well") {
  const GroupVerdict verdict = judged(five());
  CHECK(verdict.level == Level::well);
  CHECK(verdict.text == "5 of 5 grant, all of them fenced: all is well; 2 may fail");
  CHECK(verdict.notes.empty());
  CHECK(judged({serving(1)}).text == "1 of 1 grants, and is fenced: all is well; none may fail");
}

TEST_CASE("with a node down locks are given, and fewer may fail") {
  States states = five();
  states[2] = silent(3);
  CHECK(judged(states).level == Level::degraded);
  CHECK(judged(states).text ==
        "4 of 5 grant, all of them fenced: locks are given; 1 more may fail");
  states[3] = recovering(4, 12s);
  CHECK(judged(states).level == Level::degraded);
  CHECK(judged(states).text ==
        "3 of 5 grant, all of them fenced: locks are given; no more may fail");
  CHECK(notes(states, "node4: recovering, cause: crash"));
}

TEST_CASE("too few that grant give no locks, and it is told when enough do again") {
  States states = five();
  states[0] = recovering(1, 30s);
  states[1] = recovering(2, 12300ms);
  states[2] = silent(3);
  CHECK(judged(states).level == Level::down);
  CHECK(judged(states).text == "2 of 5 grant, 3 are needed: no locks are given; again in 12.3 s");
  states[0] = states[1] = silent(1);
  CHECK(judged(states).text == "2 of 5 grant, 3 are needed: no locks are given");
  CHECK(judged({silent(1), silent(2), silent(3)}).text == "none of 3 answers: no locks are given");
}

TEST_CASE("nodes that grant without a quorum of fenced ones fail everybody who wants a token") {
  States states = five();
  states[0] = unfenced(1);
  CHECK(judged(states).level == Level::degraded);
  CHECK(judged(states).text == "5 of 5 grant, 4 of them fenced: locks are given; 1 more may fail");
  CHECK(notes(states, "node1: unfenced, cause: ledger_missing"));
  states[1] = unfenced(2);
  states[2] = unfenced(3);
  CHECK(judged(states).level == Level::down);
  CHECK(judged(states).text ==
        "5 of 5 grant, 2 fenced of 3 needed: no locks with tokens; see `redlock admit`");
}

TEST_CASE("a node counts for both at once: that two halves grant and are fenced is no quorum") {
  States states = {unfenced(1), unfenced(2), serving(3), recovering(4, 1s), recovering(5, 1s)};
  const GroupVerdict verdict = judged(states);
  CHECK(verdict.granting == 3);
  CHECK(verdict.fenced == 1);
  CHECK(verdict.level == Level::down);
}

TEST_CASE("a counter that is far from the others has no part in tokens") {
  States states = {serving(1), serving(2), serving(3), silent(4), silent(5)};
  CHECK(judged(states).level == Level::degraded);
  states[0].counter = 100 + 2 * kLeapMax;
  CHECK(judged(states).fenced == 2);
  CHECK(judged(states).level == Level::down);
}

TEST_CASE("plain Redis gives locks without tokens, at best") {
  const States states = {plain(1), plain(2), plain(3)};
  CHECK(judged(states).level == Level::degraded);
  CHECK(judged(states).text ==
        "3 of 3 grant, none fenced (plain Redis): locks without tokens only; 1 more may fail");
  CHECK(judged({plain(1), plain(2), silent(3)}).level == Level::degraded);
  CHECK(judged({plain(1), silent(2), silent(3)}).level == Level::down);
  CHECK(notes({plain(1), serving(2), serving(3)},
              "plain Redis at node1: no fencing tokens from there, and locks that are forgotten in "
              "a crash"));
}

TEST_CASE("members that differ are named, and what most have stands first") {
  States states = five();
  states[1].max_ttl = 30s;
  states[3].max_ttl = 30s;
  CHECK(judged(states).level == Level::degraded);
  CHECK(judged(states).text ==
        "5 of 5 grant, all of them fenced: locks are given, but see above; 2 more may fail");
  CHECK(notes(states, "max-ttl differs: 60.0 s, but 30.0 s at node2, node4"));
  states = five();
  states[4].version = "0.2.0";
  CHECK(notes(states, "version differs: 0.1.0, but 0.2.0 at node5"));
  states[4] = serving(5);
  states[0].clock_drift = "0.05";
  CHECK(notes(states, "clock-drift differs: 0.01, but 0.05 at node1"));
}

TEST_CASE("nodes whose settings are not safe count only for those who take them") {
  States states = five();
  for (std::size_t i = 0; i < 3; ++i) states[i].unsafe = "restart-delay off is not safe";
  CHECK(judge_group(states, false).level == Level::down);
  CHECK(judge_group(states, true).level == Level::degraded);
  CHECK(notes(states, "node1: restart-delay off is not safe"));
}

TEST_CASE(
    "a list that is not the group's, and passwords that are wrong, are told before all else") {
  States states = five();
  for (NodeState& node : states) node.roster = {3, {{"node1", "a", "l1", 1}}};
  CHECK(judged(states).level == Level::wrong_list);
  CHECK(
      judged(states).text.starts_with("the group has 1 members (epoch 3), and 5 nodes are named"));
  const States denied(5, silent(1, AnswerKind::denied, "wants a password"));
  CHECK(judged(denied).level == Level::denied);
}

TEST_CASE("the table has a line per node and keeps to 80 columns") {
  States states = five();
  states[0].answer.node = "lock-node-number-one.in.a.long.domain.example.com:6379";
  states[1] = recovering(2, 61400ms);
  states[2] = silent(3, AnswerKind::timed_out, "timed out");
  states[3] = plain(4);
  const std::string table = status_table(states, false);
  std::size_t lines = 0;
  for (std::string_view rest = table; !rest.empty(); ++lines) {
    const std::size_t end = rest.find('\n');
    CHECK(end <= 80);
    rest.remove_prefix(end + 1);
  }
  CHECK(lines == 6);
  CHECK(table.find("NODE") == 0);
  CHECK(table.find("\nlock-n") != std::string::npos);
  CHECK(table.find("..:6379") != std::string::npos);
  CHECK(table.find("node4") != std::string::npos);
  CHECK(table.find("plain Redis") != std::string::npos);
}

TEST_CASE("the longest line and the longest wait are those of any node") {
  States states = five();
  CHECK(lines_note(states).empty());
  for (NodeState& node : states) {
    node.longest_line = 0;
    node.oldest_wait = 0ns;
  }
  CHECK(lines_note(states).empty());
  states[1].longest_line = 3;
  states[1].oldest_wait = 700ms;
  states[4].longest_line = 2;
  states[4].oldest_wait = 1300ms;
  CHECK(lines_note(states) == "longest line for a lock: 3; longest wait by now: 1.3 s");
  const std::string told = status_object(states, judge_group(states, false)).text();
  CHECK_THAT(told, Catch::Contains("longest line for a lock: 3"));
  CHECK_THAT(told, Catch::Contains("\"longest_line\":3,\"oldest_wait_seconds\":0.7"));
}

TEST_CASE("names that would look alike without their middle stay whole") {
  States states = {serving(1), serving(2)};
  states[0].answer.node = "the-machines-of-the-first-hall-number-1-of-the-second-floor:6379";
  states[1].answer.node = "the-machines-of-the-first-hall-number-2-of-the-second-floor:6379";
  const std::string table = status_table(states, false);
  CHECK(table.find(states[0].answer.node) != std::string::npos);
  CHECK(table.find(states[1].answer.node) != std::string::npos);
}
