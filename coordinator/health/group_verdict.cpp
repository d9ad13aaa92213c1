#include "coordinator/health/group_verdict.h"

#include "base/text/duration_text.h"
#include "coordinator/health/group_plans.h"
#include "coordinator/quorum/answer.h"
#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::coordinator {
namespace {

using States = std::vector<NodeState>;
using Level = GroupVerdict::Level;

std::size_t count(const States& states, auto predicate) {
  return static_cast<std::size_t>(std::count_if(states.begin(), states.end(), predicate));
}

std::size_t no_members(const States& states) {
  return count(states, [](const NodeState& node) { return tells_of_no_member(node.answer.text); });
}

// A member whose host answers as another node: its folder was lost, and its node id with that.
bool is_replaced(const GroupRoster& roster, const NodeState& node) {
  const bool is_members =
      std::any_of(roster.members.begin(), roster.members.end(),
                  [&node](const GroupMember& member) { return member.node == node.answer.node; });
  return is_members && tells_of_no_member(node.answer.text) &&
         !node.answer.text.starts_with(kIsOfAnotherGroup);
}

void add_cause(const NodeState& node, std::string_view what, std::vector<std::string>& lines) {
  const std::string cause = node.cause.empty() ? "" : ", cause: " + node.cause;
  lines.push_back(fmt::format("{}: {}{}", node.answer.node, what, cause));
}

// Why a node has no vote, where its state's one word leaves that open.
void add_reasons(const States& states, std::vector<std::string>& lines) {
  const GroupRoster roster = newest(states);
  for (const NodeState& node : states) {
    const NodeAnswer& answer = node.answer;
    if (is_replaced(roster, node)) {
      lines.push_back(fmt::format(
          "{0}: another node answers there than the member; `redlock group replace {0} {0}` puts "
          "it in that one's place",
          answer.node));
    } else if (!answers(node) && answer.text != answer_name(answer.kind)) {
      lines.push_back(fmt::format("{}: {}", answer.node, answer.text));
    }
    if (answers(node) && !node.grants) add_cause(node, node.state, lines);
    if (node.grants && !node.fenced.value_or(true)) add_cause(node, "unfenced", lines);
    if (!node.unsafe.empty()) lines.push_back(fmt::format("{}: {}", answer.node, node.unsafe));
  }
}

// Nodes that have each value, in their order. Empty values are of nodes that tell none.
using ByValue = std::map<std::string, std::vector<std::string>>;

// "max-ttl differs: 60 s, but 30 s at node3": what most have stands first, and without names.
void add_difference(std::string_view setting, const ByValue& nodes,
                    std::vector<std::string>& lines) {
  if (nodes.size() < 2) return;
  const auto most = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  std::string line = fmt::format("{} differs: {}", setting, most->first);
  for (const auto& [value, names] : nodes) {
    if (value != most->first) line += fmt::format(", but {} at {}", value, fmt::join(names, ", "));
  }
  lines.push_back(std::move(line));
}

// Members of a group have the same settings: the shortest max-ttl is what a lock can have, and the
// largest bound on clock rates decides what a holder may believe (rule G6).
void add_differences(const States& states, std::vector<std::string>& lines) {
  ByValue max_ttl;
  ByValue drift;
  ByValue version;
  for (const NodeState& node : states) {
    if (!answers(node) || node.is_plain) continue;
    const std::string& name = node.answer.node;
    if (node.max_ttl) max_ttl[spoken_duration(*node.max_ttl)].push_back(name);
    if (!node.clock_drift.empty()) drift[node.clock_drift].push_back(name);
    if (!node.version.empty()) version[node.version].push_back(name);
  }
  add_difference("max-ttl", max_ttl, lines);
  add_difference("clock-drift", drift, lines);
  add_difference("version", version, lines);
  const std::size_t plain = count(states, [](const NodeState& node) { return node.is_plain; });
  if (plain == 0 || plain == states.size()) return;
  std::vector<std::string> names;
  for (const NodeState& node : states) {
    if (node.is_plain) names.push_back(node.answer.node);
  }
  lines.push_back(
      fmt::format("plain Redis at {}: no fencing tokens from there, and locks that are "
                  "forgotten in a crash",
                  fmt::join(names, ", ")));
}

std::string fenced_words(const GroupVerdict& verdict) {
  if (verdict.nodes == 1) return verdict.fenced == 1 ? "and is fenced" : "and is not fenced";
  if (verdict.fenced == verdict.granting) return "all of them fenced";
  if (verdict.fenced == 0) return "none of them fenced";
  return fmt::format("{} of them fenced", verdict.fenced);
}

std::string may_fail_words(const GroupVerdict& verdict) {
  const char* more = verdict.level == Level::well ? "" : " more";
  if (verdict.may_fail == 0) return fmt::format("no{} may fail", *more == '\0' ? "ne" : more);
  return fmt::format("{}{} may fail", verdict.may_fail, more);
}

// Until a quorum grants again, if no node fails meanwhile; 0: waiting alone does not lead there.
Duration back_in(const States& states, std::size_t granting) {
  std::vector<Duration> delays;
  for (const NodeState& node : states) {
    const Duration left = node.delay_left.value_or(0ns);
    if (answers(node) && !node.grants && left > 0ns) delays.push_back(left);
  }
  const std::size_t needed = quorum_of(states.size()) - granting;
  if (delays.size() < needed) return 0ns;
  std::sort(delays.begin(), delays.end());
  return delays[needed - 1];
}

std::string down_text(const States& states, const GroupVerdict& verdict) {
  const std::size_t quorum = quorum_of(verdict.nodes);
  if (!verdict.gives_locks) {
    if (count(states, answers) + no_members(states) == 0) {
      return fmt::format("none of {} answers: no locks are given", verdict.nodes);
    }
    const Duration wait = back_in(states, verdict.granting);
    return fmt::format("{} of {} grant, {} are needed: no locks are given{}", verdict.granting,
                       verdict.nodes, quorum,
                       wait > 0ns ? fmt::format("; again in {}", spoken_duration(wait)) : "");
  }
  return fmt::format(
      "{} of {} grant, {} fenced of {} needed: no locks with tokens; see `redlock "
      "admit`",
      verdict.granting, verdict.nodes, verdict.fenced, quorum);
}

std::string verdict_text(const States& states, const GroupVerdict& verdict) {
  switch (verdict.level) {
    case Level::wrong_list:
      return roster_note(states);
    case Level::denied:
      return fmt::format("a quorum of the {} nodes wants another password: no locks for us",
                         verdict.nodes);
    case Level::down:
      return down_text(states, verdict);
    case Level::well:
    case Level::degraded:
      break;
  }
  const std::string grant = fmt::format("{} of {} {}", verdict.granting, verdict.nodes,
                                        verdict.nodes == 1 ? "grants" : "grant");
  if (!verdict.gives_tokens) {
    return fmt::format("{}, none fenced (plain Redis): locks without tokens only; {}", grant,
                       may_fail_words(verdict));
  }
  const bool is_well = verdict.level == Level::well;
  const bool all_grant = verdict.fenced == verdict.nodes;
  return fmt::format(
      "{}, {}: {}; {}", grant, fenced_words(verdict),
      is_well ? "all is well" : (all_grant ? "locks are given, but see above" : "locks are given"),
      may_fail_words(verdict));
}

// A quorum of plain Redis servers gives locks, as those who use it so know, and no tokens.
bool can_be_fenced(const States& states) {
  const std::size_t plain = count(states, [](const NodeState& node) { return node.is_plain; });
  return plain <= states.size() - quorum_of(states.size());
}

Level level_of(const States& states, const GroupVerdict& verdict) {
  const std::size_t quorum = quorum_of(states.size());
  if (is_wrong_list(states)) return Level::wrong_list;
  if (!verdict.gives_locks) {
    const std::size_t denying =
        count(states, [](const NodeState& node) { return node.answer.kind == AnswerKind::denied; });
    return denying > states.size() - quorum ? Level::denied : Level::down;
  }
  if (!verdict.gives_tokens && can_be_fenced(states)) return Level::down;
  return verdict.fenced == states.size() && verdict.notes.empty() ? Level::well : Level::degraded;
}

}  // namespace

bool is_wrong_list(const States& states) {
  const GroupRoster roster = newest(states);
  return roster.epoch > 0 && roster.members.size() != states.size();
}

std::string roster_note(const States& states) {
  const GroupRoster roster = newest(states);
  if (is_wrong_list(states)) {
    return fmt::format(
        "the group has {} members (epoch {}), and {} nodes are named: name all of them, as "
        "`redlock group` shows",
        roster.members.size(), roster.epoch, states.size());
  }
  if (states.size() - no_members(states) < quorum_of(states.size())) {
    return "too few of these nodes are members of the group: if a quorum of its members is lost, "
           "see `redlock group rescue`";
  }
  if (roster.epoch > 0) return fmt::format("epoch {}, {} members", roster.epoch, states.size());
  const bool can_be_one = std::none_of(states.begin(), states.end(), [](const NodeState& node) {
    return answers(node) && node.ledger_id.empty();
  });
  return can_be_one ? "no roster yet: `redlock group create` makes these nodes a group"
                    : "no roster: nodes without a ledger, such as a plain Redis, have none";
}

std::string lines_note(const States& states) {
  std::int64_t longest = 0;
  Duration oldest{};
  for (const NodeState& node : states) {
    longest = std::max(longest, node.longest_line.value_or(0));
    oldest = std::max(oldest, Duration(node.oldest_wait.value_or(0ns)));
  }
  if (longest == 0) return "";
  return fmt::format("longest line for a lock: {}; longest wait by now: {}", longest,
                     spoken_duration(oldest));
}

GroupVerdict judge_group(const States& states, bool takes_unsafe) {
  const std::vector<FarCounter> far = far_counters(states);
  GroupVerdict verdict{.nodes = states.size()};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const NodeState& node = states[i];
    if (!node.grants || !(takes_unsafe || node.unsafe.empty())) continue;
    ++verdict.granting;
    const bool is_far =
        std::any_of(far.begin(), far.end(), [i](const FarCounter& one) { return one.node == i; });
    if (node.fenced.value_or(false) && !is_far) ++verdict.fenced;
  }
  const std::size_t quorum = quorum_of(states.size());
  verdict.gives_locks = verdict.granting >= quorum;
  verdict.gives_tokens = verdict.fenced >= quorum;
  for (const FarCounter& one : far) {
    verdict.notes.push_back(fmt::format("{}: {}", states[one.node].answer.node, one.text));
  }
  add_reasons(states, verdict.notes);
  add_differences(states, verdict.notes);
  verdict.level = level_of(states, verdict);
  const std::size_t counted = verdict.gives_tokens ? verdict.fenced : verdict.granting;
  if (verdict.gives_locks) verdict.may_fail = counted - quorum;
  verdict.text = verdict_text(states, verdict);
  return verdict;
}

}  // namespace redlock::coordinator
