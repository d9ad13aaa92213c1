#include "coordinator/cli/waiting_text.h"

#include "base/text/duration_text.h"
#include "base/text/printable.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Less is no wait that people notice: an attempt that ended, as waiting would not have helped.
constexpr Duration kWaitMin = 100ms;

// Of a label where there is less room: beside a third of 80 columns for the lock's name.
constexpr std::size_t kLabelColumns = 24;

bool votes(const NodeAnswer& answer) {
  return answer.kind == AnswerKind::yes || answer.kind == AnswerKind::no;
}

Duration rounded_up(Duration d) {
  return std::chrono::ceil<std::chrono::seconds>(d);
}

}  // namespace

WaitReason held_reason(const std::optional<Holder>& holder, Duration holder_age) {
  if (!holder) return {"held by another", "held", "held"};
  const std::string label = holder->label.empty() ? "another" : holder->label;
  std::string who = "held by " + label;
  const std::string shorter = "held by " + cut_to_columns(label, kLabelColumns);
  if (!holder->label.empty()) who += " for " + rough_duration(holder->held + holder_age);
  if (holder->left == Duration::max()) {
    return {who + ", without an end", shorter + ", without an end", "held without an end"};
  }
  const Duration left = std::max<Duration>(holder->left - holder_age, 0ns);
  const std::string most = ", at most " + rough_duration(rounded_up(left));
  return {who + most + " more", shorter + most, "held" + most};
}

WaitReason reason_of(const Error& why) {
  if (why.code != ErrorCode::no_quorum || why.nodes.empty()) return {why.text, why.text, why.text};
  std::map<std::string_view, std::size_t> others;
  std::size_t voted = 0;
  for (const NodeAnswer& answer : why.nodes) {
    votes(answer) ? ++voted : ++others[answer_name(answer.kind)];
  }
  std::string text = fmt::format("no quorum: {} of {} voted", voted, why.nodes.size());
  const std::string brief = text;
  for (const auto& [what, count] : others) text += fmt::format(", {} {}", count, what);
  return {text, brief, brief};
}

std::string waiting_text(const WaitView& view, std::size_t columns) {
  constexpr std::string_view kSpinner = "|/-\\";
  constexpr std::size_t kNameColumnsMin = 8;
  const std::string name =
      cut_to_columns(printable(view.name), std::max(columns / 3, kNameColumnsMin));
  const std::string waited = view.wait ? fmt::format("waited {} of {}", rough_duration(view.waited),
                                                     rough_duration(rounded_up(*view.wait)))
                                       : fmt::format("waited {}", rough_duration(view.waited));
  const std::string head = fmt::format("{} {}: ", kSpinner[view.turn % kSpinner.size()], name);
  const std::string briefly = rough_duration(view.waited);
  const std::array<std::string, 6> forms = {
      fmt::format("{}{} ({})", head, view.why.text, waited),
      fmt::format("{}{}", head, view.why.text),
      fmt::format("{}{} ({})", head, view.why.shorter, briefly),
      fmt::format("{}{}", head, view.why.shorter),
      fmt::format("{}{} ({})", head, view.why.brief, briefly),
      fmt::format("{}{}", head, view.why.brief)};
  for (const std::string& form : forms) {
    if (cut_to_columns(form, columns) == form) return form;
  }
  return cut_to_columns(forms.back(), columns);
}

std::string waited_words(const Error& error, Duration waited, std::optional<Duration> wait) {
  if (wait == Duration(0) || waited < kWaitMin) return "";
  const bool gave_up = !wait && error.code != ErrorCode::held;
  return fmt::format("; {} {}", gave_up ? "gave up after" : "waited", spoken_duration(waited));
}

}  // namespace redlock::coordinator
