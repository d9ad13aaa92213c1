#include "coordinator/node_report.h"

#include "coordinator/quorum.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::coordinator {
namespace {

// A node's longer words push only their own line's time to the right.
constexpr std::size_t kTextWidthMax = 48;

double milliseconds(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

std::string sentence(const Answer& answer, const AnswerWords& words) {
  switch (answer.kind) {
    case AnswerKind::yes:
      return std::string(words.yes);
    case AnswerKind::no:
      return std::string(words.no);
    case AnswerKind::none:
      return "not waited for";
    default:
      return answer_text(answer);
  }
}

// Not fmt::print, which throws when standard error is full or nobody reads it any more: that must
// not end a command that runs under a lock.
void print_error(const std::string& text) {
  static_cast<void>(std::fputs(text.c_str(), stderr));
}

std::size_t count(const std::vector<Answer>& answers, auto predicate) {
  return static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(), predicate));
}

}  // namespace

void report_failure(const Options& options, std::string_view outcome,
                    const std::vector<Answer>& answers, const AnswerWords& words) {
  if (options.json) {
    nlohmann::json nodes = nlohmann::json::array();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      nodes.push_back({{"node", options.nodes[i].text()},
                       {"answer", answer_name(answers[i].kind)},
                       {"text", sentence(answers[i], words)},
                       {"took_ms", milliseconds(answers[i].took)}});
    }
    const nlohmann::json all = {{"name", options.name}, {"outcome", outcome}, {"nodes", nodes}};
    fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  complain(fmt::format("{}: {}", options.name, outcome));
  std::size_t address_width = 0;
  std::size_t text_width = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    address_width = std::max(address_width, options.nodes[i].text().size());
    text_width = std::max(text_width, sentence(answers[i], words).size());
  }
  text_width = std::min(text_width, kTextWidthMax);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool answered = answers[i].kind != AnswerKind::none;
    print_error(
        fmt::format("  {:<{}}  {:<{}}  {:>10}\n", options.nodes[i].text(), address_width,
                    sentence(answers[i], words), text_width,
                    answered ? fmt::format("{:.1f} ms", milliseconds(answers[i].took)) : "-"));
  }
}

std::string quorum_sentence(const std::vector<Answer>& answers) {
  return fmt::format("{} of {} nodes voted, {} are needed",
                     count(answers, [](const Answer& answer) { return answer.is_vote(); }),
                     answers.size(), quorum_of(answers.size()));
}

int no_quorum_exit(const std::vector<Answer>& answers) {
  const std::size_t denied =
      count(answers, [](const Answer& answer) { return answer.kind == AnswerKind::denied; });
  return denied > answers.size() - quorum_of(answers.size()) ? exit_code::kDenied
                                                             : exit_code::kNoQuorum;
}

std::string acquisition_failure(const AcquireResult& result) {
  switch (result.outcome) {
    case AcquisitionOutcome::held:
      return "held by another";
    case AcquisitionOutcome::too_late:
      return "the nodes answered too late for this TTL";
    default:
      return "no quorum: " + quorum_sentence(result.answers);
  }
}

int acquisition_exit(const AcquireResult& result, int if_held) {
  return result.outcome == AcquisitionOutcome::held ? if_held : no_quorum_exit(result.answers);
}

void complain(std::string_view text) {
  print_error(fmt::format("redlock: {}\n", text));
}

}  // namespace redlock::coordinator
