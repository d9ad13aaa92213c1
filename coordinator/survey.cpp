#include "coordinator/survey.h"

#include "base/number.h"
#include "coordinator/errors.h"
#include "coordinator/quorum.h"

#include <algorithm>
#include <map>

namespace redlock::coordinator {
namespace {

using Fields = std::map<std::string_view, std::string_view>;

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

std::string_view field(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : found->second;
}

// A plain Redis counts its keys as "keys=3,expires=3,…".
std::optional<std::int64_t> keys_of(const Fields& fields) {
  const std::string_view keyspace = field(fields, "db0");
  constexpr std::string_view kKeys = "keys=";
  if (!keyspace.starts_with(kKeys)) return std::nullopt;
  return parse_int64(keyspace.substr(kKeys.size(), keyspace.find(',') - kKeys.size()));
}

}  // namespace

std::optional<Holder> holder_of(const std::vector<Finding>& findings) {
  std::map<std::string_view, std::vector<std::int64_t>> left_by_value;
  for (const Finding& finding : findings) {
    if (finding.answer.kind != AnswerKind::yes) continue;
    const protocol::Reply& value = finding.replies[0];
    if (value.is_null()) continue;
    left_by_value[value.text()].push_back(finding.replies[1].integer());
  }
  const std::size_t quorum = quorum_of(findings.size());
  for (auto& [value, left] : left_by_value) {
    if (left.size() < quorum) continue;
    std::sort(left.rbegin(), left.rend());
    return Holder{.value = std::string(value),
                  .left = std::chrono::milliseconds(left[quorum - 1]),
                  .nodes = left.size()};
  }
  return std::nullopt;
}

NodeState node_state(const std::string& node, const Finding& finding) {
  const Answer& answer = finding.answer;
  NodeState told{.answer = {node, answer.kind, answer_text(answer), answer.took},
                 .state = answer_text(answer)};
  if (answer.kind != AnswerKind::yes) return told;
  const Fields fields = fields_of(finding.replies[0].text());
  told.state = field(fields, "state");
  if (told.state.empty()) told.state = "serving";
  told.grants = told.state != "recovering";
  if (const auto left = parse_int64(field(fields, "delay_left_ms"))) {
    told.delay_left = std::chrono::milliseconds(*left);
  }
  told.locks = parse_int64(field(fields, "held"));
  if (!told.locks) told.locks = keys_of(fields);
  told.counter = parse_int64(field(fields, "counter"));
  told.clock = field(fields, "source");
  return told;
}

}  // namespace redlock::coordinator
