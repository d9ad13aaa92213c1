// The host's node in its group (rules G).
#include "tests/simulation/host.h"

#include <fmt/format.h>

namespace redlock::simulation {

bool Host::is_spare() const {
  return world_.scenario.members > 0 && number_ > world_.scenario.members;
}

Duration Host::first_max_ttl() const {
  const Scenario& scenario = world_.scenario;
  return is_spare() && scenario.spare_max_ttl > 0ns ? scenario.spare_max_ttl : scenario.max_ttl;
}

// Of a node whose id is a setting, and without one it is the node's.
std::string Host::new_ledger_id() const {
  if (world_.scenario.members == 0) return node_id_;
  return fmt::format("{:039x}{:x}", processes_, number_);
}

std::optional<RosterMember> Host::as_member() const {
  if (!process_) return std::nullopt;
  const server::DurableRecord& record = process_->decision.record;
  return RosterMember{record.node_id, record.ledger_id(), 0, node_name(number_)};
}

const server::RosterRecord* Host::roster() const {
  return process_ ? &process_->node->membership().record() : nullptr;
}

bool Host::is_fenced() const {
  return process_ && process_->node->grants().fence().is_fenced();
}

Token Host::counter() const {
  return process_ ? process_->node->grants().fence().largest() : 0;
}

bool Host::has_roster_on_disk() const {
  return disk_.ledger().record.roster.current.epoch > 0;
}

}  // namespace redlock::simulation
