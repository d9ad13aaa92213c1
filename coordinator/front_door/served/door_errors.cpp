#include "coordinator/front_door/served/door_errors.h"

#include "base/text/printable.h"
#include "coordinator/quorum/tally.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// From the sources of the libraries of docs/clients.md: what begins an error, or stands in it.
constexpr std::string_view kTellingCodes[] = {
    "NOSCRIPT",   "NOAUTH",    "WRONGPASS",  "NOPERM",  "OOM",        "READONLY",    "LOADING",
    "MASTERDOWN", "BUSY",      "MOVED",      "ASK ",    "TRYAGAIN",   "CLUSTERDOWN", "CROSSSLOT",
    "EXECABORT",  "WRONGTYPE", "UNKILLABLE", "MISCONF", "NOREPLICAS", "UNBLOCKED",   "NOPROTO"};
constexpr std::string_view kTellingPhrases[] = {  // in whatever case
    "unknown command",           "unknown subcommand", "syntax error",
    "max number of clients",     "invalid password",   "no matching script",
    "wrong number of arguments", "not an integer"};

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// A node's own words only where they are harmless.
std::string words_of(const Answer& answer) {
  if (answer.kind == AnswerKind::none) return "not waited for";
  if (answer.kind == AnswerKind::yes || answer.kind == AnswerKind::no) return "answered";
  std::string text = printable(answer_text(answer));
  if (text.starts_with("ERR ")) text.erase(0, 4);
  return has_telling_word(text) ? std::string(answer_name(answer.kind)) : text;
}

// Those first that did not answer: they are what is to be mended.
std::string node_list(const std::vector<NamedNode>& nodes, const std::vector<Answer>& answers) {
  std::string silent;
  std::string heard;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::string& list = answers[i].is_vote() ? heard : silent;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ",
                        i < nodes.size() ? printable(nodes[i].name) : "a former member",
                        words_of(answers[i]));
  }
  if (silent.empty()) return heard;
  return silent;
}

std::string_view text_of(Doubt doubt) {
  return doubt == Doubt::none ? "" : ", and it may have been done";
}

std::string bounded(std::string text) {
  if (text.size() <= kDoorErrorBytesMax) return text;
  text.resize(kDoorErrorBytesMax - 3);
  return text + "...";
}

}  // namespace

bool has_telling_word(std::string_view text) {
  const std::string small = lower(text);
  const auto is_in = [](std::string_view whole) {
    return [whole](std::string_view word) { return whole.find(word) != std::string_view::npos; };
  };
  return std::any_of(std::begin(kTellingCodes), std::end(kTellingCodes), is_in(text)) ||
         std::any_of(std::begin(kTellingPhrases), std::end(kTellingPhrases), is_in(small));
}

std::string no_quorum_text(const std::vector<NamedNode>& nodes, const std::vector<Answer>& answers,
                           Doubt doubt) {
  return bounded(fmt::format("ERR NOQUORUM {} of {} nodes answered{}: {}", votes(answers),
                             answers.size(), text_of(doubt), node_list(nodes, answers)));
}

std::string cannot_be_told_text(const std::vector<NamedNode>& nodes,
                                const std::vector<Answer>& answers, Doubt doubt) {
  return bounded(
      fmt::format("ERR NOQUORUM who holds it cannot be told: {} of {} nodes answered{}: {}",
                  votes(answers), answers.size(), text_of(doubt), node_list(nodes, answers)));
}

std::string runs_out_text(Duration needed) {
  return fmt::format(
      "ERR this lock runs out too soon to get another value, for which the nodes have to keep it "
      "for "
      "{} ms, two node timeouts: extend it first",
      ceil_ms(needed));
}

std::string too_late_text(Duration took, Duration allowed) {
  return fmt::format(
      "ERR too late: the nodes took {} ms, at most {} ms are allowed; the lock is given back",
      ceil_ms(took), ceil_ms(allowed));
}

std::string extended_too_late_text(Duration took, Duration allowed) {
  return fmt::format(
      "ERR too late: the nodes took {} ms, at most {} ms are allowed; the lock may live for "
      "longer, "
      "do not count on it",
      ceil_ms(took), ceil_ms(allowed));
}

std::string unfenced_text(const std::vector<NamedNode>& nodes, const std::vector<Answer>& answers) {
  std::string without;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].token > 0 || i >= nodes.size()) continue;
    without += fmt::format("{}{}", without.empty() ? "" : ", ", printable(nodes[i].name));
  }
  return bounded(fmt::format(
      "ERR no fencing token, as too few nodes give one; not by {}. `redlock status` says why; a "
      "plain SET with NX and PX takes the lock without a token",
      without));
}

}  // namespace redlock::coordinator
