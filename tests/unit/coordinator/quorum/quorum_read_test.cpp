#include "coordinator/quorum/quorum_read.h"

#include "tests/unit/coordinator/quorum/letter_and_number.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

using Verdict = ReadVerdict;

namespace {

Instant at(Duration since_start) {
  return Instant(1h) + since_start;
}

// A node's answer in one letter: '.' silent, '-' holds nothing, a letter: holds that value.
class Reading {
 public:
  explicit Reading(std::size_t nodes, HeldByOf held_by = {}, bool wants_token = false)
      : machine({.nodes = nodes, .node_timeout = 500ms}, std::move(held_by), wants_token) {
    Actions actions;
    machine.start(at(0ms), actions);
    REQUIRE(actions.size() == nodes);
  }

  Verdict operator()(NodeIndex node, char answer) {
    if (answer == '.') return tell(node, {.kind = AnswerKind::refused}, std::nullopt);
    if (answer == '-') return tell(node, {.kind = AnswerKind::yes}, std::nullopt);
    return holds(node, std::string(1, answer));
  }
  Verdict holds(NodeIndex node, std::string value, Duration left = 10s, Token token = 0) {
    return tell(node, {.kind = AnswerKind::yes}, NodeReading{std::move(value), left, token});
  }
  Verdict tell(NodeIndex node, Answer answer, std::optional<NodeReading> told) {
    machine.on_answer(node, std::move(answer), std::move(told), at(1ms));
    return machine.verdict();
  }

  QuorumRead machine;
};

// Rule D3 as it stands, of nodes that have all been heard, in an order that does not matter.
Verdict rule(const std::string& answers) {
  const std::size_t quorum = quorum_of(answers.size());
  const auto count = [&answers](char answer) {
    return static_cast<std::size_t>(std::count(answers.begin(), answers.end(), answer));
  };
  const std::size_t silent = count('.');
  const std::set<char> letters(answers.begin(), answers.end());
  std::size_t may_be_held = 0;
  for (const char letter : letters) {
    if (letter == '.' || letter == '-') continue;
    if (count(letter) >= quorum) return Verdict::held;
    if (count(letter) + silent >= quorum) ++may_be_held;
  }
  if (answers.size() - silent < quorum || may_be_held > 1) return Verdict::no_quorum;
  return may_be_held == 0 ? Verdict::free : Verdict::possible;
}

// Each new value gets the next letter, so no two of these differ by the names of values alone.
std::string choices(const std::string& heard) {
  const char last = std::max('A', *std::max_element(heard.begin(), heard.end()));
  const bool is_first = heard.find('A') == std::string::npos;
  std::string all = ".-A";
  if (is_first) return all;
  for (char letter = 'B'; letter <= last + 1; ++letter) all += letter;
  return all;
}

// What the rule comes to, whatever the nodes that were not heard yet will say.
class Certainty {
 public:
  explicit Certainty(std::size_t nodes) : nodes_(nodes) {}

  Verdict of(const std::string& heard) {
    const auto known = known_.find(heard);
    if (known != known_.end()) return known->second;
    return known_[heard] = compute(heard);
  }

 private:
  Verdict compute(const std::string& heard) {
    if (heard.size() == nodes_) return rule(heard);
    std::set<Verdict> may_be;
    for (const char next : choices(heard)) may_be.insert(of(heard + next));
    return may_be.size() == 1 ? *may_be.begin() : Verdict::pending;
  }

  std::size_t nodes_;
  std::map<std::string, Verdict> known_;
};

// All answers of all nodes, each new value named by the next letter.
void for_all_answers(std::size_t nodes, const std::string& begun,
                     const std::function<void(const std::string&)>& visit) {
  if (begun.size() == nodes) return visit(begun);
  for (const char next : choices(begun + '-')) for_all_answers(nodes, begun + next, visit);
}

}  // namespace

TEST_CASE("a reading is decided as soon as its verdict is certain, and no sooner (rule D3)") {
  for (const std::size_t nodes : {1u, 3u, 4u, 5u}) {
    Certainty certainty(nodes);
    std::map<Verdict, int> seen;
    for_all_answers(nodes, "", [&](const std::string& answers) {
      std::vector<NodeIndex> order(nodes);
      std::iota(order.begin(), order.end(), NodeIndex(0));
      do {
        Reading reading(nodes);
        Verdict verdict = Verdict::pending;
        for (std::size_t heard = 0; heard < nodes && verdict == Verdict::pending; ++heard) {
          verdict = reading(order[heard], answers[heard]);
          if (verdict != certainty.of(answers.substr(0, heard + 1))) {
            FAIL(answers << ", after " << heard + 1 << " of " << nodes);
          }
        }
        ++seen[verdict];
      } while (std::next_permutation(order.begin(), order.end()));
    });
    CHECK(seen[Verdict::pending] == 0);
    for (const Verdict verdict : {Verdict::held, Verdict::free, Verdict::no_quorum}) {
      CHECK(seen[verdict] > 0);
    }
    CHECK((seen[Verdict::possible] > 0) == (nodes > 1));
  }
}

TEST_CASE("a value that a quorum holds once all silent nodes are added is never called free") {
  Reading reading(5);
  reading(0, 'X');
  reading(1, 'X');
  reading(2, '-');
  CHECK_FALSE(reading.machine.finished());
  CHECK(reading.machine.next_deadline() == at(500ms));
  reading.machine.on_time(at(500ms));
  CHECK(reading.machine.verdict() == Verdict::possible);
  CHECK(reading.machine.value() == "X");
}

TEST_CASE("recovering, erring and unreachable nodes are silent, and so is a node's second vote") {
  const AnswerKind kinds[] = {AnswerKind::recovering, AnswerKind::error,      AnswerKind::denied,
                              AnswerKind::refused,    AnswerKind::broken,     AnswerKind::duplicate,
                              AnswerKind::overloaded, AnswerKind::other_group};
  for (const AnswerKind kind : kinds) {
    Reading reading(3);
    reading(0, '-');
    reading.tell(1, {.kind = kind}, std::nullopt);
    CHECK(reading(2, 'X') == Verdict::possible);
  }
  Reading twice(3);
  const Answer once{.kind = AnswerKind::yes, .from = NodeIdentity(7)};
  twice.tell(0, once, std::nullopt);
  CHECK(twice.tell(1, once, std::nullopt) == Verdict::pending);
  CHECK(twice(2, 'X') == Verdict::possible);
}

TEST_CASE("the time left is the least that a quorum tells, and of a possible holder the least") {
  Reading reading(5);
  reading.holds(0, "X", 5s);
  reading.holds(1, "X", 9s);
  CHECK(reading.holds(2, "X", 7s) == Verdict::held);
  CHECK(reading.machine.left() == 5s);
  CHECK(reading.machine.start() == at(0ms));

  Reading possible(3);
  possible.holds(0, "X", 5s);
  possible(1, '.');
  CHECK(possible(2, '-') == Verdict::possible);
  CHECK(possible.machine.left() == 5s);
}

TEST_CASE("of more answers than a quorum the q-th largest time counts") {
  Reading reading(5, {}, true);  // hears more, as the token is not settled
  reading.holds(0, "X", 5s, 1);
  reading.holds(1, "X", 9s, 2);
  reading.holds(2, "X", 7s, 2);
  CHECK(reading.holds(3, "X", 8s, 2) == Verdict::held);
  CHECK(reading.machine.left() == 7s);
  CHECK(reading.machine.token() == 2);
}

TEST_CASE("a token is told if a quorum stores the same, and awaited only if that is wanted") {
  Reading hasty(5);
  hasty.holds(0, "X", 5s, 1);
  hasty.holds(1, "X", 5s, 2);
  CHECK(hasty.holds(2, "X", 5s, 2) == Verdict::held);
  CHECK(hasty.machine.token() == 0);

  Reading never(5, {}, true);
  never.holds(0, "X", 5s, 1);
  never.holds(1, "X", 5s, 2);
  CHECK(never.holds(2, "X", 5s, 3) == Verdict::pending);
  CHECK(never(3, '-') == Verdict::held);  // no token can be told by three any more
  CHECK(never.machine.token() == 0);

  Reading none(3, {}, true);
  none.holds(0, "X");
  CHECK(none.holds(1, "X") == Verdict::held);  // without one, and so it stays
  CHECK(none.machine.token() == 0);
}

// --- values that were replaced (rule D9): a letter for the holder, a digit for the number

namespace {

// As nodes tell in their order; "" holds nothing, "." is silent. The rest is not heard.
Verdict read_values(Reading& reading, const std::vector<std::string>& values) {
  for (NodeIndex node = 0; node < values.size(); ++node) {
    if (values[node].size() < 2) {
      reading(node, values[node].empty() ? '-' : '.');
    } else {
      reading.holds(node, values[node]);
    }
  }
  return reading.machine.verdict();
}

}  // namespace

TEST_CASE("a lock is held by the value that a quorum has, whatever others have (rule D9)") {
  for (const auto& [values, value] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"X1", "X0", "X1", "X1"}, "X1"},
           {{"X0", "X1", "X0", "X0"}, "X0"},  // the next one is under way, and was at no quorum
           {{"X1", "X0", "X1", "X0", "X1"}, "X1"},
           {{"Y0", "X1", "X1", "", "X1"}, "X1"}}) {
    Reading reading(5, letter_and_number);
    CHECK(read_values(reading, values) == Verdict::held);
    CHECK(reading.machine.value() == value);
  }
}

TEST_CASE("of a lock whose value no quorum has the latest is brought to those behind (rule D9)") {
  struct Case {
    std::vector<std::string> values;
    std::string value;
    std::vector<NodeIndex> behind;
  };
  for (const Case& wanted :
       std::vector<Case>{{{"X1", "X0", "X1", "X0", ""}, "X1", {1, 3}},
                         {{"X1", "X0", "X1", "X0", "."}, "X1", {1, 3}},
                         {{"X1", "X1", "X2", "X0", ""}, "X2", {0, 1, 3}},
                         {{"X1a", "X1b", "X1a", "X0", "X1b"}, "X1b", {3}},  // a tie: by their bytes
                         {{"X1b", "X1a", "X1a", "X0", "X0"}, "X1a", {3, 4}},
                         {{"X0", "Y9", "X1", "X0", "X1"}, "X1", {0, 3}}}) {
    CAPTURE(wanted.values);
    Reading reading(5, letter_and_number);
    CHECK(read_values(reading, wanted.values) == Verdict::unsettled);
    CHECK(reading.machine.value() == wanted.value);
    CHECK(reading.machine.behind() == wanted.behind);
  }
}

TEST_CASE("a lock of which no value can come to a quorum any more is possible alone (rule D9)") {
  for (const std::vector<std::string>& values : std::vector<std::vector<std::string>>{
           {"X1a", "X1b", "X1a", "X1b", ""}, {"X1a", "X1b", "X1c", "", ""}}) {
    CAPTURE(values);
    Reading reading(5, letter_and_number);
    CHECK(read_values(reading, values) == Verdict::possible);
  }
}

TEST_CASE("a reading waits for a value to be a quorum's as long as it can become that (rule D9)") {
  Reading reading(5, letter_and_number);
  CHECK(read_values(reading, {"X1", "X0", "X0"}) == Verdict::pending);
  CHECK(reading.holds(3, "X1") == Verdict::pending);
  CHECK(reading.holds(4, "X1") == Verdict::held);
  CHECK(reading.machine.value() == "X1");

  Reading silent(5, letter_and_number);
  read_values(silent, {"X1", "X0", "X0", "X1"});
  silent.machine.on_time(at(500ms));
  CHECK(silent.machine.verdict() == Verdict::unsettled);
}

TEST_CASE("how long a lock is held is told of the value that it is held by (rules D2, D9)") {
  Reading reading(5, letter_and_number);
  reading.holds(0, "X0", 60s);
  reading.holds(1, "X1", 5s);
  reading.holds(2, "X1", 7s);
  CHECK(reading.holds(3, "X1", 9s) == Verdict::held);
  CHECK(reading.machine.left() == 5s);

  Reading unsettled(3, letter_and_number);
  unsettled.holds(0, "X0", 60s);
  unsettled.holds(1, "X1", 5s);
  CHECK(unsettled(2, '-') == Verdict::unsettled);
  CHECK(unsettled.machine.left() == 5s);
}

TEST_CASE("of what may be held the latest value is told (rules D3, D9)") {
  Reading reading(5, letter_and_number);
  CHECK(read_values(reading, {"X0", "X1", "", "", "."}) == Verdict::possible);
  CHECK(reading.machine.value() == "X1");
}

TEST_CASE("for people a reading without a quorum hears every node") {
  QuorumRead machine({.nodes = 3, .node_timeout = 500ms, .hear_everyone = true});
  Actions actions;
  machine.start(at(0ms), actions);
  machine.on_answer(0, {.kind = AnswerKind::refused}, std::nullopt, at(1ms));
  machine.on_answer(1, {.kind = AnswerKind::refused}, std::nullopt, at(1ms));
  CHECK_FALSE(machine.finished());
  machine.on_time(at(500ms));
  CHECK(machine.verdict() == Verdict::no_quorum);
  CHECK(machine.answers()[2].kind == AnswerKind::timed_out);
}
