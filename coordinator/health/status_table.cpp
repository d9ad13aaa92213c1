#include "coordinator/health/status_table.h"

#include "base/text/duration_text.h"
#include "base/text/printable.h"
#include "coordinator/quorum/answer.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using States = std::vector<NodeState>;

constexpr std::size_t kColumns = 80;
constexpr std::string_view kGap = "  ";
constexpr std::size_t kNameWidthMin = 14;
constexpr std::size_t kState = 1;

using Cells = std::array<std::string, 8>;
constexpr std::array<std::string_view, std::tuple_size_v<Cells>> kHead = {
    "NODE", "STATE", "LEFT", "LOCKS", "MAX-TTL", "FENCED", "RTT", "VERSION"};

std::string state_word(const NodeState& node) {
  if (!answers(node)) return std::string(answer_name(node.answer.kind));
  return node.is_plain ? "plain Redis" : node.state;
}

std::string_view colour_of(const NodeState& node) {
  if (!answers(node)) return "\x1b[31m";
  return node.grants && !node.is_plain ? "\x1b[32m" : "\x1b[33m";
}

std::string fenced_text(const NodeState& node) {
  if (!node.fenced) return "-";
  if (*node.fenced) return "yes";
  const bool waits = node.admit_in && *node.admit_in > 0ns;
  return waits ? fmt::format("in {}", spoken_duration(*node.admit_in)) : "no";
}

Cells cells_of(const NodeState& node, std::string name) {
  const bool waits = node.delay_left && *node.delay_left > 0ns;
  const double round_trip_ms = std::chrono::duration<double, std::milli>(node.answer.took).count();
  return {std::move(name),
          state_word(node),
          waits ? spoken_duration(*node.delay_left) : "-",
          node.locks ? std::to_string(*node.locks) : "-",
          node.max_ttl ? spoken_duration(*node.max_ttl) : "-",
          fenced_text(node),
          answers(node) ? fmt::format("{:.1f} ms", round_trip_ms) : "-",
          node.version.empty() ? "-" : node.version};
}

// A host's name tells most at its begin, and its port stands at its end; what tells least is that
// it is spoken to by TLS.
std::string shortened(std::string name, std::size_t width) {
  constexpr std::string_view kLeftOut = "..";
  constexpr std::string_view kTlsScheme = "rediss://";
  if (name.size() <= width) return name;
  if (name.starts_with(kTlsScheme)) name.erase(0, kTlsScheme.size());
  if (name.size() <= width) return name;
  const std::size_t end = std::min(name.size() - name.rfind(':'), width / 2);
  const std::size_t begin = width - kLeftOut.size() - end;
  return fmt::format("{}{}{}", name.substr(0, begin), kLeftOut, name.substr(name.size() - end));
}

std::vector<std::string> names_within(const States& states, std::size_t width) {
  std::vector<std::string> names;
  for (const NodeState& node : states) names.push_back(node.answer.node);
  std::vector<std::string> cut;
  for (const std::string& name : names) cut.push_back(shortened(name, width));
  const bool are_distinct =
      std::set(cut.begin(), cut.end()).size() == std::set(names.begin(), names.end()).size();
  return are_distinct ? cut : names;
}

using Widths = std::array<std::size_t, std::tuple_size_v<Cells>>;

Widths widths_of(const std::vector<Cells>& rows) {
  Widths widths{};
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = kHead[i].size();
    for (const Cells& row : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

// What the line has room for beside the other columns.
std::size_t name_width(const Widths& widths) {
  std::size_t others = kGap.size() * (widths.size() - 1);
  for (std::size_t i = 1; i < widths.size(); ++i) others += widths[i];
  return kColumns > others + kNameWidthMin ? kColumns - others : kNameWidthMin;
}

std::string line_of(const auto& cells, const Widths& widths, std::string_view colour) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string cell = fmt::format("{:<{}}", cells[i], widths[i]);
    line += i > 0 ? kGap : "";
    line += i == kState && !colour.empty() ? fmt::format("{}{}\x1b[0m", colour, cell) : cell;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string status_table(const States& states, bool with_colours) {
  std::vector<Cells> rows;
  for (const NodeState& node : states) rows.push_back(cells_of(node, node.answer.node));
  Widths widths = widths_of(rows);
  const std::vector<std::string> names = names_within(states, name_width(widths));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][0] = names[i];
  widths = widths_of(rows);
  std::string table = line_of(kHead, widths, "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table += line_of(rows[i], widths, with_colours ? colour_of(states[i]) : "");
  }
  return table;
}

}  // namespace redlock::coordinator
