#include "coordinator/results/survey.h"

#include "base/text/number.h"
#include "base/text/printable.h"
#include "coordinator/quorum/quorum.h"
#include "coordinator/results/errors.h"
#include "coordinator/results/public_roster.h"

#include <algorithm>
#include <map>

namespace redlock::coordinator {
namespace {

// A plain Redis counts its keys as "keys=3,expires=3,…".
std::optional<std::int64_t> keys_of(std::string_view info) {
  const std::string_view keyspace = info_field(info, "db0");
  constexpr std::string_view kKeys = "keys=";
  if (!keyspace.starts_with(kKeys)) return std::nullopt;
  return parse_int64(keyspace.substr(kKeys.size(), keyspace.find(',') - kKeys.size()));
}

// What the nodes that hold one value say.
struct Votes {
  std::vector<Duration> left;
  std::map<Token, std::size_t> tokens;  // how many store each

  void add(const NodeReading& told) {
    left.push_back(told.left);
    if (told.token > 0) ++tokens[told.token];
  }
  Token token(std::size_t quorum) const {
    for (const auto& [stored, nodes] : tokens) {
      if (nodes >= quorum) return stored;
    }
    return 0;
  }
};

// A node of an earlier version has no lines.
void add_lines(std::string_view info, NodeState& told) {
  told.longest_line = parse_int64(info_field(info, "longest_line"));
  const auto oldest_ms = parse_int64(info_field(info, "oldest_wait_ms"));
  constexpr std::int64_t kMillisecondsMax = Duration::max() / 1ms;
  if (!oldest_ms) return;
  told.oldest_wait =
      std::chrono::milliseconds(std::clamp<std::int64_t>(*oldest_ms, 0, kMillisecondsMax));
}

Holder with_label(Holder holder, const std::vector<std::optional<NodeReading>>& readings) {
  const NodeReading* told = labelled(readings, holder.value);
  if (told == nullptr) return holder;
  holder.label = told->label;
  holder.held = told->held;
  return holder;
}

void add_status(NodeStatus status, NodeState& told) {
  if (!status.fenced) told.admit_in = admissible_in(status);
  told.state = std::move(status.state);
  told.grants = told.state == "serving";
  told.cause = std::move(status.cause);
  told.delay_left = status.delay_left;
  told.locks = status.locks;
  told.max_ttl = status.max_ttl;
  told.largest_ttl = status.largest_ttl;
  told.counter = status.counter;
  told.bound = status.bound;
  told.fenced = status.fenced;
  told.node_id = std::move(status.node_id);
  told.version = std::move(status.version);
  told.ledger_id = std::move(status.ledger_id);
  told.standing = std::move(status.standing);
  told.clock_drift = std::move(status.clock_drift);
  told.roster = public_roster(status.roster);
}

}  // namespace

std::optional<Holder> holder_of(const std::vector<std::optional<NodeReading>>& readings,
                                std::size_t nodes) {
  std::map<std::string, Votes> votes;
  for (const auto& told : readings) {
    if (told) votes[told->value].add(*told);
  }
  const std::size_t quorum = quorum_of(nodes);
  for (auto& [value, for_value] : votes) {
    auto& left = for_value.left;
    if (left.size() < quorum) continue;
    std::sort(left.rbegin(), left.rend());
    return with_label({.value = value,
                       .left = left[quorum - 1],
                       .nodes = left.size(),
                       .token = for_value.token(quorum)},
                      readings);
  }
  return std::nullopt;
}

std::optional<Holder> holder_of(const std::vector<NodeFinding>& findings) {
  std::vector<std::optional<NodeReading>> readings;
  for (const NodeFinding& finding : findings) {
    const bool has_told = finding.answer.kind == AnswerKind::yes;
    readings.push_back(has_told ? read_holder(finding.replies[0]) : std::nullopt);
  }
  return holder_of(readings, findings.size());
}

std::optional<Holder> holder_of(const ReadResult& result) {
  if (result.verdict != ReadVerdict::held) return std::nullopt;
  const auto nodes =
      std::count_if(result.readings.begin(), result.readings.end(),
                    [&](const auto& told) { return told && told->value == result.value; });
  return with_label({.value = result.value,
                     .left = result.left,
                     .nodes = static_cast<std::size_t>(nodes),
                     .token = result.token},
                    result.readings);
}

NodeState node_state(const std::string& node, const NodeFinding& finding, double clock_drift) {
  const Answer& answer = finding.answer;
  NodeState told{.answer = {node, answer.kind, answer_text(answer), answer.took},
                 .state = answer_text(answer)};
  if (answer.kind != AnswerKind::yes) return told;
  const std::string_view info = finding.replies[1].text();
  told.clock = printable(info_field(info, "source"));
  if (auto status = read_node_status(finding.replies[0])) {
    told.unsafe = unsafe_settings(*status, clock_drift);
    add_status(std::move(*status), told);
    add_lines(info, told);
  } else {
    told.state = "serving";
    told.grants = true;
    told.is_plain = true;
    told.locks = keys_of(info);
    told.node_id = printable(info_field(info, "run_id"));
    told.version = printable(info_field(info, "redis_version"));
  }
  return told;
}

}  // namespace redlock::coordinator
