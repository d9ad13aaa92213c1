// Drives a state machine the way a test reads: nodes are numbered from 1, answers are written as
// redis-cli prints them ("p=7": a grant that proposes token 7),
// time is milliseconds since the test began.
#pragma once

#include "base/text/number.h"
#include "coordinator/link/node_request.h"
#include "coordinator/quorum/acquisition.h"
#include "coordinator/quorum/extension.h"
#include "coordinator/quorum/release.h"

#include <initializer_list>
#include <sstream>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

namespace redlock::coordinator {

inline Instant at(Duration since_start) {
  return Instant(1h) + since_start;
}

inline Answer answer_of(std::string_view text) {
  if (text == "+OK" || text == "(integer) 1") return {.kind = AnswerKind::yes};
  if (text == "(integer) 2") return {.kind = AnswerKind::yes, .topped_up = true};
  if (text.starts_with("p=")) {
    return {.kind = AnswerKind::yes, .token = static_cast<Token>(*parse_int64(text.substr(2)))};
  }
  if (text == "(nil)" || text == "(integer) 0") return {.kind = AnswerKind::no};
  if (text == "refused") return {.kind = AnswerKind::refused, .never_sent = true};
  if (text == "broken") return {.kind = AnswerKind::broken};
  if (text.starts_with("-")) {
    return classify(RequestKind::acquire, protocol::Reply::error(std::string(text.substr(1))));
  }
  FAIL("an answer that the fixture does not know");
  return {};
}

// "ask 1 2 3 4 5", "undo 1 2"; kinds in order of their first action.
inline std::string text_of(const Actions& actions) {
  const auto name = [](Action::Kind kind) {
    switch (kind) {
      case Action::Kind::ask:
        return "ask";
      case Action::Kind::confirm:
        return "confirm";
      case Action::Kind::withdraw:
        return "withdraw";
      case Action::Kind::undo:
        break;
    }
    return "undo";
  };
  std::ostringstream out;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const bool is_same_kind = i > 0 && actions[i - 1].kind == actions[i].kind;
    if (!is_same_kind) out << (i > 0 ? "; " : "") << name(actions[i].kind);
    out << ' ' << actions[i].node + 1;
  }
  return out.str();
}

template <class Machine>
class MachineFixture {
 public:
  template <class... Arguments>
  explicit MachineFixture(const Terms& terms, Arguments... arguments)
      : machine(terms, arguments...) {}

  std::string start(Duration when = 0ms) {
    machine.start(at(when), actions_);
    return taken();
  }
  // What the machine wants done after node said so.
  std::string operator()(unsigned node, std::string_view answer, Duration when = 1ms) {
    if constexpr (std::is_same_v<Machine, Release>) {
      machine.on_answer(node - 1, answer_of(answer), at(when));
    } else {
      machine.on_answer(node - 1, answer_of(answer), at(when), actions_);
    }
    return taken();
  }
  // The same, said to a confirm.
  std::string confirmed(unsigned node, std::string_view answer, Duration when = 2ms) {
    machine.on_confirmed(node - 1, answer_of(answer), at(when), actions_);
    return taken();
  }
  std::string time(Duration when) {
    if constexpr (std::is_same_v<Machine, Release>) {
      machine.on_time(at(when));
    } else {
      machine.on_time(at(when), actions_);
    }
    return taken();
  }

  Machine machine;

 private:
  std::string taken() {
    std::string text = text_of(actions_);
    actions_.clear();
    return text;
  }

  Actions actions_;
};

inline Terms five_nodes(Duration ttl = 30s) {
  return {.nodes = 5, .ttl = ttl, .node_timeout = 500ms, .clock_drift = 0.01, .fencing = false};
}

inline Terms five_fenced_nodes(Duration ttl = 30s) {
  Terms terms = five_nodes(ttl);
  terms.fencing = true;
  return terms;
}

}  // namespace redlock::coordinator
