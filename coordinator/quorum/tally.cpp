#include "coordinator/quorum/tally.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>

namespace redlock::coordinator {
namespace {

std::size_t count(const std::vector<Answer>& answers, auto predicate) {
  return static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(), predicate));
}

bool others_are_no_quorum(const std::vector<Answer>& answers, std::size_t these) {
  return these > answers.size() - quorum_of(answers.size());
}

}  // namespace

std::size_t votes(const std::vector<Answer>& answers) {
  return count(answers, [](const Answer& answer) { return answer.is_vote(); });
}

bool quorum_voted(const std::vector<Answer>& answers) {
  return votes(answers) >= quorum_of(answers.size());
}

bool leave_no_quorum(const std::vector<Answer>& answers, AnswerKind kind) {
  const auto is_of_kind = [kind](const Answer& answer) { return answer.kind == kind; };
  return others_are_no_quorum(answers, count(answers, is_of_kind));
}

bool leave_no_tokens(const std::vector<Answer>& answers, const NodeSet& plain) {
  NodeSet without = plain;
  NodeIndex node = 0;
  for (const Answer& answer : answers) {
    if (answer.kind == AnswerKind::yes && answer.token == 0) without.set(node);
    ++node;
  }
  return others_are_no_quorum(answers, without.count());
}

bool is_beyond_limits(const std::vector<Answer>& answers) {
  const auto is_limit = [](const Answer& answer) { return answer.is_limit; };
  return others_are_no_quorum(answers, count(answers, is_limit));
}

}  // namespace redlock::coordinator
