// An admission, and the nodes' answers as they are told: nodes are numbered from 1.
#pragma once

#include "coordinator/quorum/admission.h"
#include "tests/unit/coordinator/quorum/machine_fixture.h"

#include <initializer_list>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace redlock::coordinator {

inline NodeSet nodes(std::initializer_list<unsigned> numbers) {
  NodeSet set;
  for (const unsigned number : numbers) set.set(number - 1);
  return set;
}

inline Terms group_of(std::size_t count) {
  return {.nodes = count, .ttl = 30s, .node_timeout = 500ms, .clock_drift = 0.01};
}

inline OperatorsFloor new_group(std::optional<Token> floor) {
  return {.new_group = true, .floor = floor};
}

class Story {
 public:
  using State = Admission::Standing::State;

  explicit Story(const NodeSet& candidates, Terms terms = group_of(5))
      : Story({.candidates = candidates}, terms) {}
  explicit Story(const OperatorsFloor& by_operator)
      : Story({.candidates = all_nodes(5), .by_operator = by_operator}, group_of(5)) {}
  Story(const AdmissionPlan& plan, const Terms& terms) : machine(terms, plan) {}

  std::string start(Duration when = 0ms) {
    machine.start(at(when), actions_);
    return taken();
  }
  std::string fenced(unsigned node, std::uint64_t counter = 0, std::uint64_t bound = 0) {
    return hear(
        node,
        {.answer = {.kind = AnswerKind::yes}, .fenced = true, .counter = counter, .bound = bound});
  }
  // The same, said by the node that another address leads to as well.
  std::string fenced_as(unsigned id, unsigned node, std::uint64_t counter) {
    return hear(node, {.answer = {.kind = AnswerKind::yes, .from = static_cast<NodeIdentity>(id)},
                       .fenced = true,
                       .counter = counter});
  }
  std::string unfenced(unsigned node, std::uint64_t counter = 0, Duration admit_in = 0ns) {
    return hear(node,
                {.answer = {.kind = AnswerKind::yes}, .counter = counter, .admit_in = admit_in});
  }
  std::string recovering(unsigned node) {
    return hear(node, {.answer = {.kind = AnswerKind::yes}, .recovering = true});
  }
  std::string ok(unsigned node) { return hear(node, {.answer = {.kind = AnswerKind::yes}}); }
  // Every other answer, as redis-cli or the fixture of the other machines says it.
  std::string says(unsigned node, std::string_view answer) {
    return hear(node, {.answer = answer_of(answer)});
  }
  std::string time(Duration when) {
    now_ = at(when);
    machine.on_time(now_, actions_);
    return taken();
  }
  State state(unsigned node) const { return machine.standing(node - 1).state; }

  Admission machine;

 private:
  std::string hear(unsigned node, AdmissionReply reply) {
    reply.to = machine.question();
    machine.on_answer(node - 1, std::move(reply), now_, actions_);
    return taken();
  }

  // "read 1 2 3", "admit 5 (41)", "withdraw 3"
  std::string taken() {
    std::string text = text_of(actions_);
    actions_.clear();
    const auto asks = text.find("ask");
    if (asks == std::string::npos) return text;
    switch (machine.question()) {
      case AdmissionQuestion::look:
        return text.replace(asks, 3, "look");
      case AdmissionQuestion::read:
        return text.replace(asks, 3, "read");
      case AdmissionQuestion::admit:
        return text.replace(asks, 3, fmt::format("admit {}:", machine.floor()));
    }
    return text;
  }

  Instant now_ = at(1ms);
  Actions actions_;
};

}  // namespace redlock::coordinator
