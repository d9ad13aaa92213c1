#include "coordinator/results/admission_report.h"

#include "base/text/duration_text.h"
#include "coordinator/quorum/tally.h"
#include "coordinator/results/errors.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using Nodes = std::vector<Group::Node>;
using Standing = Admission::Standing;
using State = Standing::State;

std::string sentence(const Standing& node, Token floor) {
  // Also of one that was known, and then fell silent.
  const bool answered = node.answer.kind == AnswerKind::yes || node.answer.kind == AnswerKind::none;
  if (!answered) return answer_text(node.answer);
  switch (node.state) {
    case State::fenced:
      if (node.is_far_above) {
        return fmt::format("fenced, its counter is at {}: far above the others", node.counter);
      }
      return fmt::format("fenced already, its counter is at {}", node.counter);
    case State::admitted:
      return fmt::format("admitted, its tokens are above {}", floor);
    case State::early:
      return fmt::format("{}, may be admitted in {}", node.recovering ? "recovering" : "unfenced",
                         spoken_duration(node.admit_in));
    case State::unfenced:
    case State::failed:
    case State::unknown:
      break;
  }
  return node.recovering ? "recovering" : "unfenced";
}

std::vector<NodeAnswer> node_lines(const Nodes& nodes, const AdmitResult& result) {
  std::vector<NodeAnswer> lines;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Standing& node = result.nodes[i];
    lines.push_back(
        {nodes[i].name, node.answer.kind, sentence(node, result.floor), node.answer.took});
  }
  return lines;
}

std::string refusal(const AdmitResult& result, bool is_new_group) {
  const bool is_untouched =
      std::none_of(result.nodes.begin(), result.nodes.end(), [](const Standing& node) {
        return node.state == State::admitted || node.state == State::failed;
      });
  if (!is_new_group || !is_untouched) return "some nodes stay unfenced";
  const auto fenced = static_cast<std::size_t>(
      std::count_if(result.nodes.begin(), result.nodes.end(),
                    [](const Standing& node) { return node.state == State::fenced; }));
  if (fenced >= quorum_of(result.nodes.size())) {
    return "a quorum of nodes is fenced and tells the floor: `redlock admit` without --new-group; "
           "nothing was changed";
  }
  return "this needs all nodes of the group, none of them recovering; nothing was changed";
}

// What an operator has to know to say a floor.
constexpr std::string_view kWhatAFloorIs =
    "a number that no token ever given is above: as large as the largest token that whatever "
    "checks tokens has stored, or larger";

std::string counters_apart(const AdmitResult& result) {
  return fmt::format(
      "a counter that the others do not bear out would become the floor, and use up the numbers of "
      "the nodes that are admitted; nothing was changed. If it is right, say so: `redlock admit "
      "--floor {}`. If somebody has set it, or it was damaged, give another one that is: {}",
      result.floor, kWhatAFloorIs);
}

// Either hardly anyone answered, or so many of those that did are unfenced
// that it takes the others.
Error too_few_answered(const Nodes& nodes, const AdmitResult& result,
                       std::vector<NodeAnswer> lines) {
  std::vector<Answer> answers;
  for (const Standing& node : result.nodes) answers.push_back(node.answer);
  Error error = {ErrorCode::no_quorum, "no quorum of fenced nodes answered", {}};
  if (!quorum_voted(answers)) error = no_quorum_error(nodes, answers, kSurveyWords);
  error.nodes = std::move(lines);
  return error;
}

std::string floor_is_needed(Token least) {
  return fmt::format(
      "--floor N is needed: {}; 0 if there never was one. So many nodes have forgotten theirs that "
      "the others need not know it: what they tell is {}, and no token may come again",
      kWhatAFloorIs, least);
}

std::string floor_is_too_low(Token floor, Token least) {
  return fmt::format(
      "the floor {} is below {}, which the nodes tell: tokens would come again; nothing was "
      "changed",
      floor, least);
}

}  // namespace

Admitted admitted(const Nodes& nodes, const AdmitResult& result) {
  Admitted told{.floor = result.floor, .nodes = {}};
  for (NodeAnswer& line : node_lines(nodes, result)) {
    const State state = result.nodes[told.nodes.size()].state;
    const bool is_new = state == State::admitted;
    told.nodes.push_back({std::move(line), is_new || state == State::fenced, is_new});
  }
  return told;
}

Error admission_error(const Nodes& nodes, const AdmitResult& result, bool is_new_group) {
  std::vector<NodeAnswer> lines = node_lines(nodes, result);
  switch (result.outcome) {
    case AdmissionOutcome::needs_operator:
      return {ErrorCode::not_admitted,
              "no quorum of nodes is fenced, so nobody knows which tokens were given; if you do, "
              "say so: `redlock admit --new-group --floor N`",
              std::move(lines)};
    case AdmissionOutcome::counters_apart:
      return {ErrorCode::not_admitted, counters_apart(result), std::move(lines)};
    case AdmissionOutcome::floor_needed:
      return {ErrorCode::not_admitted, floor_is_needed(result.least_floor), std::move(lines)};
    case AdmissionOutcome::floor_too_low:
      return {ErrorCode::not_admitted, floor_is_too_low(result.floor, result.least_floor),
              std::move(lines)};
    case AdmissionOutcome::no_quorum:
      return too_few_answered(nodes, result, std::move(lines));
    default:
      return {ErrorCode::not_admitted, refusal(result, is_new_group), std::move(lines)};
  }
}

}  // namespace redlock::coordinator
