#include "coordinator/group/survey/survey_operation.h"

#include <utility>

namespace redlock::coordinator {

SurveyOperation::SurveyOperation(GroupParts& group, std::span<const RequestKind> questions,
                                 std::string name, Done done)
    : Operation(group),
      questions_(questions.begin(), questions.end()),
      claim_(std::make_shared<const Claim>(Claim{std::move(name), {}})),
      ballot_(group.links.size()),
      done_(std::move(done)) {}

void SurveyOperation::on_nodes_changed(Instant now) {
  Operation::on_nodes_changed(now);
  next_attempt();
  ballot_ = Ballot(group().links.size());
  start(now);
}

void SurveyOperation::start(Instant now) {
  replies_ = std::vector<std::vector<protocol::Reply>>(ballot_.nodes());
  ballot_.open(now, group().options.node_timeout);
  for (NodeIndex node = 0; node < group().links.size(); ++node) {
    for (const RequestKind question : questions_) {
      ask(node, {.kind = question, .claim = claim_}, now);
    }
  }
}

void SurveyOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  if (completion.answer.kind == AnswerKind::yes) {
    replies_[node].push_back(std::move(completion.reply));
    if (replies_[node].size() < questions_.size()) return;
  }
  ballot_.record(node, std::move(completion.answer), now);
}

void SurveyOperation::on_time(Instant now) {
  ballot_.time_out(now);
}

void SurveyOperation::tell() {
  std::vector<NodeFinding> findings;
  for (NodeIndex node = 0; node < ballot_.nodes(); ++node) {
    findings.push_back({ballot_.answers()[node], std::move(replies_[node])});
  }
  done_(std::move(findings));
}

}  // namespace redlock::coordinator
