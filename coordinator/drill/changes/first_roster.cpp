#include "coordinator/drill/changes/first_roster.h"

#include <redlock/client.h>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr Duration kMadeWithin = 10s;

using States = Result<std::vector<NodeState>, Error>;
using Change = Result<GroupChange, Error>;

}  // namespace

Status make_first_roster(Stage& stage, const std::vector<std::string>& addresses) {
  auto client = Client::start_on(stage.loop().raw(), {.nodes = addresses});
  if (!client) return Failure{client.error().text};
  const auto states =
      stage.answer<States>([&](auto done) { client->status(std::move(done)); }, kMadeWithin);
  if (!states || !*states) return Failure{"the nodes do not tell who they are"};
  GroupRoster wanted{1, {}};
  for (const NodeState& node : states->value()) {
    wanted.members.push_back({node.answer.node, node.node_id, node.ledger_id, wanted.epoch});
  }
  const auto changed = stage.answer<Change>(
      [&](auto done) { client->change_group(wanted, std::move(done)); }, kMadeWithin);
  if (!changed) return Failure{"the nodes were not waited for"};
  if (!*changed) return Failure{fmt::format("no group: {}", changed->error().text)};
  if (!changed->value().is_wanted) return Failure{"the nodes are a group already"};
  return Done{};
}

}  // namespace redlock::drill
