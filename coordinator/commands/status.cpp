// redlock status: a table of the nodes, from what they tell of themselves, and what is wrong.
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "base/text/duration_text.h"
#include "base/text/json.h"
#include "coordinator/cli/counter_report.h"
#include "coordinator/cli/group_plans.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"
#include "coordinator/quorum/answer.h"
#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using States = std::vector<NodeState>;
using FarCounters = std::vector<FarCounter>;
using Cells = std::array<std::string, 10>;

constexpr Duration kWatchInterval = 1s;

bool answers(const NodeState& node) {
  return node.answer.kind == AnswerKind::yes;
}

double round_trip_ms(const NodeState& node) {
  return std::chrono::duration<double, std::milli>(node.answer.took).count();
}

bool wants_colours() {
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

std::string_view colour_of(const NodeState& node) {
  if (!answers(node)) return "\x1b[31m";
  return node.grants ? "\x1b[32m" : "\x1b[33m";
}

std::string fenced_text(const NodeState& node) {
  if (!node.fenced) return "-";
  if (*node.fenced) return "yes";
  const bool waits = node.admit_in && *node.admit_in > 0ns;
  return waits ? fmt::format("no, in {}", spoken_duration(*node.admit_in)) : "no";
}

// What a node does not tell (a plain Redis knows of no restart delay) is "-".
Cells cells_of(const NodeState& node) {
  const auto number = [](const auto& told) { return told ? std::to_string(*told) : "-"; };
  const auto text = [](const std::string& told) { return told.empty() ? "-" : told; };
  const bool waits = node.delay_left && *node.delay_left > 0ns;
  return {node.answer.node,
          node.state,
          text(node.cause),
          waits ? spoken_duration(*node.delay_left) : "-",
          number(node.locks),
          node.largest_ttl ? spoken_duration(*node.largest_ttl) : "-",
          number(node.counter),
          fenced_text(node),
          answers(node) ? fmt::format("{:.1f} ms", round_trip_ms(node)) : "-",
          text(node.clock)};
}

void print_table(const States& states) {
  std::vector<Cells> lines = {{"NODE", "STATE", "CAUSE", "DELAY LEFT", "LOCKS", "LARGEST TTL",
                               "TOKEN", "FENCED", "ROUND TRIP", "CLOCK"}};
  for (const NodeState& node : states) lines.push_back(cells_of(node));
  std::array<std::size_t, std::tuple_size_v<Cells>> widths{};
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  const bool coloured = wants_colours();
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      std::string cell = fmt::format("{:<{}}", lines[line][i], widths[i]);
      if (coloured && line > 0 && i == 1) {
        cell = fmt::format("{}{}\x1b[0m", colour_of(states[line - 1]), cell);
      }
      text += (i > 0 ? "  " : "") + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  }
}

JsonObject json_of(const NodeState& node) {
  JsonObject told = {{"node", node.answer.node},
                     {"state", node.state},
                     {"answers", answers(node)},
                     {"grants", node.grants}};
  if (!answers(node)) return told;
  const auto add = [&](const char* name, const auto& value) {
    if (value) told.add(name, *value);
  };
  const auto add_ms = [&](const char* name, const std::optional<Duration>& value) {
    if (value) told.add(name, ceil_ms(*value));
  };
  const auto add_text = [&](const char* name, const std::string& value) {
    if (!value.empty()) told.add(name, value);
  };
  add_text("cause", node.cause);
  add_ms("delay_left_ms", node.delay_left);
  add("held", node.locks);
  add_ms("max_ttl_ms", node.max_ttl);
  add_ms("largest_ttl_ms", node.largest_ttl);
  add("counter", node.counter);
  add("bound", node.bound);
  add("fenced", node.fenced);
  add_ms("admit_in_ms", node.admit_in);
  told.add("round_trip_ms", round_trip_ms(node));
  add_text("clock", node.clock);
  add_text("unsafe", node.unsafe);
  add_text("node_id", node.node_id);
  add_text("version", node.version);
  return told;
}

// A list that the group refuses: whoever goes by the group's roster has a node for each member.
bool is_wrong_list(const States& states) {
  const GroupRoster roster = newest(states);
  return roster.epoch > 0 && roster.members.size() != states.size();
}

std::size_t no_members(const States& states) {
  return static_cast<std::size_t>(
      std::count_if(states.begin(), states.end(),
                    [](const NodeState& node) { return tells_of_no_member(node.answer.text); }));
}

// Who the nodes are to each other.
std::string group_text(const States& states) {
  const GroupRoster roster = newest(states);
  if (is_wrong_list(states)) {
    return fmt::format(
        "the group has {} members (epoch {}), and {} nodes are named: name all of them, as "
        "`redlock "
        "group` shows",
        roster.members.size(), roster.epoch, states.size());
  }
  if (states.size() - no_members(states) < quorum_of(states.size())) {
    return "too few of these nodes are members of the group: if a quorum of its members is lost, "
           "see "
           "`redlock group rescue`";
  }
  if (roster.epoch > 0) return fmt::format("epoch {}, {} members", roster.epoch, states.size());
  const bool can_be_one = std::none_of(states.begin(), states.end(), [](const NodeState& node) {
    return answers(node) && node.ledger_id.empty();
  });
  return can_be_one ? "no roster yet: `redlock group create` makes these nodes a group"
                    : "no roster: nodes without a ledger, such as a plain Redis, have none";
}

// A member whose host answers as another node: its folder was lost, and its node id with that.
std::vector<std::string> replaced_hosts(const States& states) {
  std::vector<std::string> lines;
  const GroupRoster roster = newest(states);
  for (const NodeState& node : states) {
    const std::string& address = node.answer.node;
    const bool is_members =
        std::any_of(roster.members.begin(), roster.members.end(),
                    [&address](const GroupMember& member) { return member.node == address; });
    if (!is_members || !tells_of_no_member(node.answer.text)) continue;
    lines.push_back(fmt::format(
        "{0}: another node answers there than the member; `redlock group replace {0} {0}` puts it "
        "in that one's place",
        address));
  }
  return lines;
}

// What is not as in a sound group, a line each.
std::vector<std::string> complaints(const States& states, const FarCounters& far) {
  std::vector<std::string> lines = replaced_hosts(states);
  for (const FarCounter& one : far) {
    lines.push_back(fmt::format("{}: {}", states[one.node].answer.node, one.text));
  }
  const NodeState* least = nullptr;
  const NodeState* most = nullptr;
  for (const NodeState& node : states) {
    if (!node.unsafe.empty()) lines.push_back(fmt::format("{}: {}", node.answer.node, node.unsafe));
    if (!node.max_ttl) continue;
    if (least == nullptr || node.max_ttl < least->max_ttl) least = &node;
    if (most == nullptr || node.max_ttl > most->max_ttl) most = &node;
  }
  if (least != most && least->max_ttl < most->max_ttl) {
    lines.push_back(fmt::format("max-ttl differs: {} at {}, {} at {}",
                                spoken_duration(*least->max_ttl), least->answer.node,
                                spoken_duration(*most->max_ttl), most->answer.node));
  }
  return lines;
}

void print_json(const States& states, const FarCounters& far, int exit_code) {
  std::vector<JsonObject> nodes;
  for (const NodeState& node : states) nodes.push_back(json_of(node));
  for (const FarCounter& one : far) {
    nodes[one.node].add("counter_is_far", one.side == FarCounter::Side::above ? "above" : "below");
    nodes[one.node].add("warning", one.text);
  }
  const JsonObject all = {{"quorum_grants", exit_code == exit_code::kDone},
                          {"epoch", newest(states).epoch},
                          {"group", group_text(states)},
                          {"nodes", nodes}};
  fmt::print("{}\n", all.text());
}

// Whether a quorum grants, and if not, why.
int verdict(const States& states, bool takes_unsafe) {
  if (is_wrong_list(states)) return exit_code::kConfiguration;
  const auto count = [&](auto predicate) {
    return static_cast<std::size_t>(std::count_if(states.begin(), states.end(), predicate));
  };
  const std::size_t quorum = quorum_of(states.size());
  const auto grants = [takes_unsafe](const NodeState& node) {
    return node.grants && (takes_unsafe || node.unsafe.empty());
  };
  if (count(grants) >= quorum) return exit_code::kDone;
  if (count(answers) + no_members(states) >= quorum) return exit_code::kNo;
  const auto denies = [](const NodeState& node) { return node.answer.kind == AnswerKind::denied; };
  return count(denies) > states.size() - quorum ? exit_code::kDenied : exit_code::kNoQuorum;
}

int show(const Options& options, const States& states) {
  const int exit_code = verdict(states, options.client.unsafe_members);
  const FarCounters far = far_counters(states);
  if (options.json) {
    print_json(states, far, exit_code);
  } else {
    if (options.watch && isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[H\x1b[J");
    print_table(states);
    if (std::any_of(states.begin(), states.end(), answers)) fmt::print("{}\n", group_text(states));
    if (exit_code == exit_code::kNo) fmt::print("too few nodes grant locks\n");
    if (exit_code == exit_code::kNoQuorum) fmt::print("no quorum of nodes answers\n");
    for (const std::string& line : complaints(states, far)) fmt::print("{}\n", line);
  }
  std::fflush(stdout);
  return exit_code == exit_code::kDone && !far.empty() ? exit_code::kNo : exit_code;
}

}  // namespace

int command_status(const Options& options, CommandSession& session) {
  std::function<void()> look;
  net::Timer again(session.loop(), net::ClockKind::monotonic, [&] { look(); });
  look = [&] {
    session.client().status([&](const Result<States, Error>& result) {
      const int exit_code = show(options, result.value());
      if (!options.watch) return session.finish(exit_code);
      again.set(net::read_clock(net::ClockKind::monotonic) + kWatchInterval);
    });
  };
  return session.run(look);
}

}  // namespace redlock::coordinator
