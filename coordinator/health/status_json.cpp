#include "base/text/json.h"
#include "base/time.h"
#include "coordinator/health/counter_report.h"
#include "coordinator/health/group_plans.h"
#include "coordinator/health/status_table.h"

namespace redlock::coordinator {
namespace {

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

std::string_view level_name(GroupVerdict::Level level) {
  switch (level) {
    case GroupVerdict::Level::well:
      return "well";
    case GroupVerdict::Level::degraded:
      return "degraded";
    case GroupVerdict::Level::down:
      return "down";
    case GroupVerdict::Level::denied:
      return "denied";
    case GroupVerdict::Level::wrong_list:
      return "wrong list";
  }
  return "";
}

JsonObject json_of(const NodeState& node) {
  const bool is_up = answers(node);
  JsonObject told = {
      {"node", node.answer.node}, {"up", is_up}, {"state", node.state}, {"grants", node.grants}};
  if (!is_up) return told;
  const auto add = [&](const char* name, const auto& value) {
    if (value) told.add(name, *value);
  };
  const auto add_seconds = [&](const char* name, const std::optional<Duration>& value) {
    if (value) told.add(name, seconds(*value));
  };
  const auto add_text = [&](const char* name, const std::string& value) {
    if (!value.empty()) told.add(name, value);
  };
  told.add("plain_redis", node.is_plain);
  told.add("roster_epoch", node.roster.epoch);
  told.add("round_trip_seconds", seconds(node.answer.took));
  add_text("cause", node.cause);
  add_seconds("delay_left_seconds", node.delay_left);
  add("locks", node.locks);
  add_seconds("max_ttl_seconds", node.max_ttl);
  add_seconds("largest_ttl_seconds", node.largest_ttl);
  add("fence_counter", node.counter);
  add("fence_bound", node.bound);
  add("fenced", node.fenced);
  add_seconds("admit_in_seconds", node.admit_in);
  add("longest_line", node.longest_line);
  add_seconds("oldest_wait_seconds", node.oldest_wait);
  add_text("clock", node.clock);
  add_text("clock_drift", node.clock_drift);
  add_text("unsafe", node.unsafe);
  add_text("node_id", node.node_id);
  add_text("version", node.version);
  return told;
}

}  // namespace

JsonObject status_object(const std::vector<NodeState>& states, const GroupVerdict& verdict) {
  std::vector<JsonObject> nodes;
  for (const NodeState& node : states) nodes.push_back(json_of(node));
  for (const FarCounter& one : far_counters(states)) {
    nodes[one.node].add("counter_is_far", one.side == FarCounter::Side::above ? "above" : "below");
  }
  return {{"level", level_name(verdict.level)},
          {"verdict", verdict.text},
          {"notes", verdict.notes},
          {"quorum_grants", verdict.gives_locks},
          {"quorum_fenced", verdict.gives_tokens},
          {"nodes_granting", verdict.granting},
          {"nodes_fenced", verdict.fenced},
          {"may_fail", verdict.may_fail},
          {"roster_epoch", newest(states).epoch},
          {"group", roster_note(states)},
          {"lines", lines_note(states)},
          {"nodes", nodes}};
}

}  // namespace redlock::coordinator
