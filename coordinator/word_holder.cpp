// redlock holder NAME: which value a quorum holds, and for how long.
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::coordinator {
namespace {

constexpr AnswerWords kWords = {"answered", "answered"};

struct Holder {
  std::string value;
  std::int64_t left_ms = 0;  // until fewer than a quorum hold it
  std::size_t nodes = 0;
};

// The value that a quorum holds, if there is one.
std::optional<Holder> find_holder(const std::vector<Finding>& findings) {
  std::map<std::string, std::vector<std::int64_t>> left_by_value;
  for (const Finding& finding : findings) {
    if (finding.answer.kind != AnswerKind::yes) continue;
    const protocol::Reply& value = finding.replies[0];
    if (value.is_null()) continue;
    left_by_value[std::string(value.text())].push_back(finding.replies[1].integer());
  }
  const std::size_t quorum = quorum_of(findings.size());
  for (auto& [value, left] : left_by_value) {
    if (left.size() < quorum) continue;
    std::sort(left.rbegin(), left.rend());
    return Holder{value, left[quorum - 1], left.size()};
  }
  return std::nullopt;
}

void print_holder(const Options& options, const Holder& holder) {
  if (options.json) {
    const nlohmann::json all = {{"name", options.name},      {"held", true},
                                {"value", holder.value},     {"left_ms", holder.left_ms},
                                {"token", nullptr},          {"nodes", holder.nodes},
                                {"of", options.nodes.size()}};
    fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("value    {}\nleft_ms  {}\ntoken    -\nnodes    {} of {}\n", holder.value,
             holder.left_ms, holder.nodes, options.nodes.size());
}

int tell(const Options& options, const std::vector<Finding>& findings) {
  std::vector<Answer> answers;
  std::size_t answered = 0;
  for (const Finding& finding : findings) {
    answers.push_back(finding.answer);
    if (finding.answer.is_vote()) ++answered;
  }
  if (const auto holder = find_holder(findings)) {
    print_holder(options, *holder);
    return exit_code::kDone;
  }
  if (answered < quorum_of(findings.size())) {
    report_failure(options, "no quorum: " + quorum_sentence(answers), answers, kWords);
    return no_quorum_exit(answers);
  }
  if (options.json) {
    const nlohmann::json all = {{"name", options.name}, {"held", false}};
    fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("free\n");
  }
  return exit_code::kNo;
}

}  // namespace

int word_holder(const Options& options) {
  WordSession session(options);
  const auto done = [&](const std::vector<Finding>& findings) {
    session.finish(tell(options, findings));
  };
  return session.run([&] {
    session.client().survey({RequestKind::get, RequestKind::pttl}, options.name, done);
  });
}

}  // namespace redlock::coordinator
