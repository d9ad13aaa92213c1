#include "coordinator/group/group_parts.h"

#include "base/invariant.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

GroupParts::GroupParts(GroupOptions wanted, ValueSource source, std::uint64_t seed)
    : options(std::move(wanted)),
      rosters(options.nodes, options.as_named),
      values(std::move(source)),
      random(seed),
      waits(options.nodes.size(), options.node_timeout),
      tickets(options.wall_clock ? NextAttempt::Tickets([this] { return new_ticket(); }) : nullptr),
      admissions(options.nodes.size(), random) {
  INVARIANT(!options.nodes.empty() && options.nodes.size() <= kNodesMax, "a group of no size");
  links.reserve(options.nodes.size());
  for (const GroupOptions::Node& node : options.nodes) {
    links.emplace_back(node.credentials, random, options.relays, writer);
  }
}

// A link that leads where it led before keeps what it owes there.
void GroupParts::change_nodes(const Rosters::Sources& sources, Instant now) {
  std::uint64_t connection = 0;
  for (const Link& link : links) connection = std::max(connection, link.connection());
  std::vector<Link> changed;
  changed.reserve(sources.size());
  for (NodeIndex node = 0; node < sources.size(); ++node) {
    if (sources[node]) {
      changed.push_back(std::move(links[*sources[node]]));
    } else {
      changed.emplace_back(rosters.nodes()[node].credentials, random, options.relays, writer);
    }
  }
  links = std::move(changed);
  settled.reset();
  waits.change_nodes(links.size());
  admissions.change_nodes(links.size());
  for (Link& link : links) {
    link.count_from(connection);
    link.set_roster(rosters.chosen());
    link.refuse_votes(rosters.refusal());
    link.start(now);
  }
}

WaitTicket GroupParts::new_ticket() {
  const std::int64_t ms = floor_ms(options.wall_clock().time_since_epoch());
  return {static_cast<std::uint64_t>(std::clamp<std::int64_t>(ms, 0, kWaitTicketPartMax)),
          random.below(kWaitTicketPartMax)};
}

Terms GroupParts::terms(Duration ttl, bool fencing) const {
  Terms terms = this->terms();
  terms.ttl = ttl;
  terms.node_timeout = std::min(options.node_timeout, ttl / 3);
  terms.fencing = fencing;
  return terms;
}

std::size_t GroupParts::ready_links() const {
  return static_cast<std::size_t>(
      std::count_if(links.begin(), links.end(), [](const Link& link) { return link.is_ready(); }));
}

Terms GroupParts::terms() const {
  return {.nodes = links.size(),
          .node_timeout = options.node_timeout,
          .clock_drift = options.clock_drift,
          .hear_everyone = options.hear_everyone};
}

}  // namespace redlock::coordinator
