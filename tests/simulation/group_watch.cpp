#include "tests/simulation/group_watch.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

std::size_t count_members(const Roster& roster, const auto& is_one) {
  return static_cast<std::size_t>(
      std::count_if(roster.members.begin(), roster.members.end(), is_one));
}

}  // namespace

void GroupWatch::change(const Event& event) {
  users_[event.client - 1]->change_group(
      event, [this](unsigned node) { return hosts_[node - 1]->as_member(); });
}

void GroupWatch::relist(const Event& event) {
  std::vector<unsigned> list;
  std::size_t strangers = 0;
  for (unsigned node = 1; node <= scenario_.nodes; ++node) {
    if ((event.other >> (node - 1) & 1) == 0) continue;
    list.push_back(node);
    if (!knows_roster_for_good(node)) ++strangers;
  }
  if (strangers >= coordinator::quorum_of(list.size())) return;
  users_[event.client - 1]->relist(std::move(list), event.length);
}

bool GroupWatch::knows_roster_for_good(unsigned node) const {
  if (!judge_.goes_by_roster(node) || !hosts_[node - 1]->has_roster_on_disk()) return false;
  return std::none_of(scenario_.events.begin(), scenario_.events.end(), [node](const Event& event) {
    return event.deed == Deed::lose_disk && event.node == node;
  });
}

bool GroupWatch::is_member(unsigned node) const {
  const Roster& newest = judge_.newest();
  if (newest.epoch == 0) return scenario_.members == 0 || node <= scenario_.members;
  return std::any_of(newest.members.begin(), newest.members.end(),
                     [node](const RosterMember& m) { return m.address == node_name(node); });
}

bool GroupWatch::is_member_for_good(unsigned node) const {
  const Roster& newest = judge_.newest();
  if (newest.epoch == 0) return is_member(node);
  return std::any_of(newest.members.begin(), newest.members.end(), [node](const RosterMember& m) {
    return m.since == 1 && m.address == node_name(node);
  });
}

void GroupWatch::repeat_first_change() {
  if (judge_.newest().epoch > 0 && told().epoch == 0) change({.deed = Deed::change, .client = 1});
}

const Roster& GroupWatch::told() const {
  static const Roster kNone;
  const Roster* newest = &kNone;
  for (const auto& host : hosts_) {
    const server::RosterRecord* record = host->roster();
    if (record != nullptr && record->current.epoch > newest->epoch) newest = &record->current;
  }
  return *newest;
}

void GroupWatch::correct_lists() {
  const Roster& known = told();
  if (known.epoch == 0) return;
  for (const auto& user : users_) {
    if (user->roster().epoch > 0) continue;
    std::vector<unsigned> list;
    for (const RosterMember& member : known.members) list.push_back(node_of(member.address));
    user->relist(std::move(list), 0ns);
  }
}

std::optional<Event> GroupWatch::last_change() const {
  const Roster& newest = judge_.newest();
  const bool loses_ledgers =
      std::any_of(scenario_.events.begin(), scenario_.events.end(),
                  [](const Event& event) { return event.deed == Deed::lose_disk; });
  if (newest.epoch == 0 ? loses_ledgers : newest.members.size() == scenario_.nodes) {
    return std::nullopt;
  }
  return Event{.deed = Deed::change, .client = 1, .node = 1, .other = 1};
}

bool GroupWatch::has_its_ledger(const RosterMember& member) const {
  const auto self = host(member).as_member();
  return self && self->id == member.id && self->ledger == member.ledger;
}

bool GroupWatch::can_change() const {
  const Roster& newest = judge_.newest();
  const Roster& known = told();
  if (newest.epoch == 0) return true;
  if (known.epoch == 0) return voters(newest) == newest.members.size();
  const auto has_quorum = [this](const Roster& roster) {
    return voters(roster) >= coordinator::quorum_of(roster.members.size());
  };
  return has_quorum(newest) && has_quorum(known);
}

std::size_t GroupWatch::voters(const Roster& roster) const {
  return count_members(roster, [this](const RosterMember& m) { return has_its_ledger(m); });
}

bool GroupWatch::can_give_tokens() const {
  const Roster& newest = judge_.newest();
  const auto is_fenced = [this](const RosterMember& member) {
    return has_its_ledger(member) && host(member).is_fenced();
  };
  return newest.epoch == 0 ||
         count_members(newest, is_fenced) >= coordinator::quorum_of(newest.members.size());
}

std::string GroupWatch::trouble_with(const RosterMember& member) const {
  if (!has_its_ledger(member)) return "lost its ledger, and was not named anew";
  const server::RosterRecord& record = *host(member).roster();
  if (record.current.epoch != judge_.newest().epoch) {
    return fmt::format("goes by epoch {}", record.current.epoch);
  }
  if (record.has_accepted()) return "knows of a change that was begun, and nobody finishes it";
  if (!host(member).is_serving()) return "is recovering";
  return host(member).is_fenced() ? "" : "was not admitted";
}

std::string GroupWatch::trouble() const {
  const Roster& newest = judge_.newest();
  for (const RosterMember& member : newest.members) {
    const std::string trouble = trouble_with(member);
    if (!trouble.empty()) return fmt::format("{} {}", member.address, trouble);
  }
  for (std::size_t index = 0; index < users_.size(); ++index) {
    const Roster& roster = users_[index]->roster();
    if (roster == newest) continue;
    return fmt::format("client {} goes by epoch {}", index + 1, roster.epoch);
  }
  return "";
}

}  // namespace redlock::simulation
