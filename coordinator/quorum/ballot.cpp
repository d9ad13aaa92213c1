#include "coordinator/quorum/ballot.h"

#include "base/text/duration_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

Answer silence(Duration node_timeout) {
  return {.kind = AnswerKind::timed_out,
          .text = fmt::format("no answer within {}", spoken_duration(node_timeout))};
}

bool has_voted(NodeIdentity node, const std::vector<Answer>& answers) {
  if (node == NodeIdentity::unknown) return false;
  return std::any_of(answers.begin(), answers.end(), [node](const Answer& answer) {
    return answer.is_vote() && answer.from == node;
  });
}

Answer second_vote() {
  return {.kind = AnswerKind::broken, .text = "is a node that has answered at another address"};
}

void Ballot::open(Instant start, Instant asked, Duration node_timeout) {
  start_ = start;
  node_timeout_ = node_timeout;
  deadline_ = later(asked, node_timeout);
}

bool Ballot::record(NodeIndex node, Answer&& answer, Instant now) {
  INVARIANT(node < answers_.size(), "an answer of a node that was not asked");
  INVARIANT(answer.kind != AnswerKind::none, "an answer that says nothing");
  if (answered(node)) return false;
  if (answer.is_vote() && has_voted(answer.from, answers_)) answer = second_vote();
  if (answer.kind == AnswerKind::yes) {
    votes_.add_yes();
  } else if (answer.kind == AnswerKind::no) {
    votes_.add_no();
  } else {
    votes_.add_silent();
  }
  answer.took = std::max<Duration>(now - start_, 0ns);  // a reading of before it began
  answers_[node] = std::move(answer);
  return true;
}

bool Ballot::time_out(Instant now) {
  if (now < deadline_) return false;
  for (NodeIndex node = 0; node < answers_.size(); ++node) {
    record(node, silence(node_timeout_), now);  // unless it has answered
  }
  return true;
}

void ask_all(std::size_t nodes, Actions& actions) {
  for (NodeIndex node = 0; node < nodes; ++node) {
    actions.push_back({Action::Kind::ask, node});
  }
}

}  // namespace redlock::coordinator
