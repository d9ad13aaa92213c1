// redlock status: a table of the nodes, from their INFO.
#include "base/duration_text.h"
#include "base/number.h"
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::coordinator {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

constexpr Duration kWatchInterval = 1s;

// INFO's `name:value` lines.
Fields fields_of(std::string_view info) {
  Fields fields;
  while (!info.empty()) {
    const std::size_t end = std::min(info.find_first_of("\r\n"), info.size());
    const std::string_view line = info.substr(0, end);
    info.remove_prefix(std::min(end + 1, info.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    fields.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return fields;
}

// One line of the table. What a node does not tell (a plain Redis knows of no restart delay) is
// "-".
struct Row {
  std::string address;
  std::string state;
  std::string delay_left = "-";
  std::string locks = "-";
  std::string token = "-";
  std::string round_trip = "-";
  std::string clock = "-";
  bool answers = false;
  bool grants = false;
};

std::string field(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

// A plain Redis counts its keys as "keys=3,expires=3,…".
std::string keys_of(const Fields& fields) {
  const std::string keyspace = field(fields, "db0");
  constexpr std::string_view kKeys = "keys=";
  if (!keyspace.starts_with(kKeys)) return "-";
  return keyspace.substr(kKeys.size(), keyspace.find(',') - kKeys.size());
}

Row row_of(const std::string& address, const Finding& finding) {
  Row row{.address = address, .state = answer_text(finding.answer)};
  if (finding.answer.kind != AnswerKind::yes) return row;
  const Fields fields = fields_of(finding.replies[0].text());
  row.answers = true;
  row.state = field(fields, "state");
  if (row.state.empty()) row.state = "serving";
  row.grants = row.state != "recovering";
  if (const auto left = parse_int64(field(fields, "delay_left_ms")); left && *left > 0) {
    row.delay_left = spoken_duration(std::chrono::milliseconds(*left));
  }
  row.locks = field(fields, "held");
  if (row.locks.empty()) row.locks = keys_of(fields);
  if (const std::string counter = field(fields, "counter"); !counter.empty()) row.token = counter;
  if (const std::string source = field(fields, "source"); !source.empty()) row.clock = source;
  row.round_trip = fmt::format(
      "{:.1f} ms", std::chrono::duration<double, std::milli>(finding.answer.took).count());
  return row;
}

bool wants_colours() {
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

std::string_view colour_of(const Row& row) {
  if (!row.answers) return "\x1b[31m";
  return row.grants ? "\x1b[32m" : "\x1b[33m";
}

void print_table(const std::vector<Row>& rows) {
  using Cells = std::array<std::string, 7>;
  std::vector<Cells> lines = {
      {"NODE", "STATE", "DELAY LEFT", "LOCKS", "TOKEN", "ROUND TRIP", "CLOCK"}};
  for (const Row& row : rows) {
    lines.push_back(
        {row.address, row.state, row.delay_left, row.locks, row.token, row.round_trip, row.clock});
  }
  std::array<std::size_t, 7> widths{};
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  const bool coloured = wants_colours();
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      std::string cell = fmt::format("{:<{}}", lines[line][i], widths[i]);
      if (coloured && line > 0 && i == 1) {
        cell = fmt::format("{}{}\x1b[0m", colour_of(rows[line - 1]), cell);
      }
      text += (i > 0 ? "  " : "") + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  }
}

void print_json(const std::vector<Row>& rows, const std::vector<Finding>& findings, int exit_code) {
  nlohmann::json nodes = nlohmann::json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    nlohmann::json node = {{"node", rows[i].address},
                           {"state", rows[i].state},
                           {"answers", rows[i].answers},
                           {"grants", rows[i].grants}};
    if (rows[i].answers) {
      const Fields fields = fields_of(findings[i].replies[0].text());
      for (const char* name : {"delay_left_ms", "held", "counter"}) {
        if (const auto number = parse_int64(field(fields, name))) node[name] = *number;
      }
      node["round_trip_ms"] =
          std::chrono::duration<double, std::milli>(findings[i].answer.took).count();
    }
    nodes.push_back(std::move(node));
  }
  const nlohmann::json all = {{"quorum_grants", exit_code == exit_code::kDone}, {"nodes", nodes}};
  fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

int verdict(const std::vector<Row>& rows, const std::vector<Finding>& findings) {
  const auto count = [&](auto member) {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.*member; }));
  };
  const std::size_t quorum = quorum_of(rows.size());
  if (count(&Row::grants) >= quorum) return exit_code::kDone;
  if (count(&Row::answers) >= quorum) return exit_code::kNo;
  std::vector<Answer> answers;
  answers.reserve(findings.size());
  for (const Finding& finding : findings) answers.push_back(finding.answer);
  return no_quorum_exit(answers);
}

int show(const Options& options, const std::vector<Finding>& findings) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    rows.push_back(row_of(options.nodes[i].text(), findings[i]));
  }
  const int exit_code = verdict(rows, findings);
  if (options.json) {
    print_json(rows, findings, exit_code);
  } else {
    if (options.watch && isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[H\x1b[J");
    print_table(rows);
    if (exit_code == exit_code::kNo) fmt::print("too few nodes grant locks\n");
    if (exit_code > exit_code::kNo) fmt::print("no quorum of nodes answers\n");
  }
  std::fflush(stdout);
  return exit_code;
}

}  // namespace

int word_status(const Options& options) {
  WordSession session(options);
  std::function<void()> look;
  net::Timer again(session.loop(), net::ClockKind::monotonic, [&] { look(); });
  look = [&] {
    session.client().survey({RequestKind::info}, "", [&](const std::vector<Finding>& findings) {
      const int exit_code = show(options, findings);
      if (!options.watch) return session.finish(exit_code);
      again.set(net::read_clock(net::ClockKind::monotonic) + kWatchInterval);
    });
  };
  return session.run(look);
}

}  // namespace redlock::coordinator
