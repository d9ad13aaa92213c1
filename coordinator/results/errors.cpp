#include "coordinator/results/errors.h"

#include "coordinator/quorum/quorum.h"
#include "coordinator/quorum/tally.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using Nodes = std::vector<Group::Node>;

// It was asked while the group was larger.
const std::string kFormerMember = "a former member";

std::string sentence(const Answer& answer, const AnswerWords& words) {
  switch (answer.kind) {
    case AnswerKind::yes:
      return answer.topped_up ? "did not have it any more" : std::string(words.yes);
    case AnswerKind::no:
      return std::string(words.no);
    case AnswerKind::none:
      return "not waited for";
    default:
      return answer_text(answer);
  }
}

bool are_no_members(const std::vector<Answer>& answers) {
  const auto others = std::count_if(answers.begin(), answers.end(), [](const Answer& answer) {
    return tells_of_no_member(answer.text);
  });
  return answers.size() - static_cast<std::size_t>(others) < quorum_of(answers.size());
}

// A quorum locked, no quorum gives tokens (rule F4): which nodes, and what can be done about it.
Error unfenced_error(const Nodes& nodes, const AcquireResult& result) {
  Error error{ErrorCode::unfenced, {}, node_answers(nodes, result.answers, kAcquireWords)};
  std::size_t proposals = 0;
  bool is_any_unfenced = false;
  for (NodeIndex node = 0; node < result.answers.size(); ++node) {
    const Answer& answer = result.answers[node];
    if (answer.token > 0) ++proposals;
    if (answer.kind != AnswerKind::yes || answer.token > 0) continue;
    const bool is_plain = result.plain.test(node);
    is_any_unfenced = is_any_unfenced || !is_plain;
    error.nodes[node].text = is_plain ? "granted; a plain Redis has no fencing tokens"
                                      : "granted; unfenced: it gives no fencing token";
  }
  error.text = fmt::format("no fencing token: {} of {} nodes gave one, {} are needed.", proposals,
                           nodes.size(), quorum_of(nodes.size()));
  if (proposals >= quorum_of(nodes.size())) {
    error.text =
        "no fencing token: the nodes' counters are too far apart; `redlock status` names those "
        "that are far from the others, and what to do.";
  }
  if (is_any_unfenced) {
    error.text +=
        " Nodes that lost their ledger are let in again by `redlock admit`; nodes of a group that "
        "never gave a token, or of which no quorum kept its ledger, by `redlock admit "
        "--new-group`.";
  }
  error.text += " --no-fence (in a program: fence = false) goes without a token.";
  return error;
}

// What all of them say is said once.
std::string denied_text(const std::vector<Answer>& answers) {
  std::string said;
  for (const Answer& answer : answers) {
    if (answer.kind == AnswerKind::denied) said = answer_text(answer);
  }
  const auto says_it = [&said](const Answer& answer) {
    return answer.kind == AnswerKind::denied && answer_text(answer) == said;
  };
  if (!std::all_of(answers.begin(), answers.end(), says_it)) {
    return "too few nodes take the password, or none was given";
  }
  if (said == "wants a password") {
    return "the nodes want a password: it stands in their addresses (redis://:PASSWORD@host), in "
           "REDLOCK_PASSWORD or in the file of --password-file (in a program: password)";
  }
  return said == "refuses the password" ? "the nodes refuse the password" : said;
}

}  // namespace

std::vector<NodeAnswer> node_answers(const Nodes& nodes, const std::vector<Answer>& answers,
                                     const AnswerWords& words) {
  std::vector<NodeAnswer> told;
  told.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string& name = i < nodes.size() ? nodes[i].name : kFormerMember;
    told.push_back({name, answers[i].kind, sentence(answers[i], words), answers[i].took});
  }
  return told;
}

Error no_quorum_error(const Nodes& nodes, const std::vector<Answer>& answers,
                      const AnswerWords& words) {
  Error error{ErrorCode::no_quorum,
              fmt::format("no quorum: {} of {} nodes voted, {} are needed", votes(answers),
                          answers.size(), quorum_of(answers.size())),
              node_answers(nodes, answers, words)};
  // A change of the group refuses votes as well, and is over soon: that is no reason by itself.
  const auto wrong_list = std::find_if(answers.begin(), answers.end(),
                                       [](const Answer& answer) { return answer.is_wrong_list; });
  if (is_beyond_limits(answers)) {
    const auto first = std::find_if(answers.begin(), answers.end(),
                                    [](const Answer& answer) { return answer.is_limit; });
    error.code = ErrorCode::invalid;
    error.text = fmt::format("the nodes refuse it: {}", answer_text(*first));
  } else if (wrong_list != answers.end()) {
    error.code = ErrorCode::other_group;
    error.text = answer_text(*wrong_list);
    for (NodeAnswer& node : error.nodes) {
      if (node.text == error.text) node.text = "not counted";  // once is enough
    }
  } else if (leave_no_quorum(answers, AnswerKind::unsafe)) {
    error.code = ErrorCode::invalid;
    error.text =
        "too few nodes have safe settings: mend them, or take the nodes as they are, and two "
        "holders after a restart, by --unsafe-members (in a program: unsafe_members)";
  } else if (are_no_members(answers)) {
    error.text =
        "too few of these nodes are members of the group. If a quorum of its members is lost, see "
        "`redlock group rescue`; else name those that `redlock group` shows";
  } else if (leave_no_quorum(answers, AnswerKind::denied)) {
    error.code = ErrorCode::denied;
    error.text = denied_text(answers);
  } else if (leave_no_quorum(answers, AnswerKind::overloaded)) {
    error.code = ErrorCode::overloaded;
    error.text = "too many operations at once: the nodes have yet to answer those before";
  }
  return error;
}

Error invalid_error(std::string text) {
  return {ErrorCode::invalid, std::move(text), {}};
}

Error acquisition_error(const Nodes& nodes, const AcquireResult& result) {
  switch (result.outcome) {
    case AcquisitionOutcome::held:
      return {ErrorCode::held, "held by another",
              node_answers(nodes, result.answers, kAcquireWords)};
    case AcquisitionOutcome::too_late:
      return {ErrorCode::too_late, "the nodes answered too late for this TTL",
              node_answers(nodes, result.answers, kAcquireWords)};
    case AcquisitionOutcome::unfenced:
      return unfenced_error(nodes, result);
    default:
      return no_quorum_error(nodes, result.answers, kAcquireWords);
  }
}

Error extension_error(const Nodes& nodes, const ExtendResult& result) {
  if (result.outcome != ExtensionOutcome::lost) {
    return no_quorum_error(nodes, result.answers, kExtendWords);
  }
  return {ErrorCode::not_held, "not this holder's",
          node_answers(nodes, result.answers, kExtendWords)};
}

Error release_error(const Nodes& nodes, const ReleaseResult& result) {
  if (result.outcome != ReleaseOutcome::not_held) {
    return no_quorum_error(nodes, result.answers, kReleaseWords);
  }
  return {ErrorCode::not_held, "not this holder's",
          node_answers(nodes, result.answers, kReleaseWords)};
}

}  // namespace redlock::coordinator
