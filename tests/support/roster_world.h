// RosterWorld: a group of real nodes with a roster, and coordinators that name them.
#pragma once

#include "tests/support/node_world.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace redlock {

struct RosterWorld : NodeWorld {
  explicit RosterWorld(std::size_t nodes = 7) : NodeWorld(nodes, 1ms, Ledgers::kept) {}

  // Names of nodes as given, members since the epochs given.
  static Roster roster(std::uint64_t epoch, const std::vector<unsigned>& numbers,
                       const std::map<unsigned, std::uint64_t>& since = {}) {
    Roster roster{epoch, {}};
    for (const unsigned number : numbers) {
      const auto joined = since.find(number);
      roster.members.push_back({id_of(number), id_of(number),
                                joined == since.end() ? 1 : joined->second, name_of(number)});
    }
    return roster;
  }

  coordinator::ChangeResult change(Client& client, const Roster& wanted) {
    std::optional<coordinator::ChangeResult> result;
    client.group().change(wanted, now(),
                          [&](coordinator::ChangeResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, 30s));
    pass(10ms);  // the event that it came with is over
    return *result;
  }
  // The node hears of this roster, in which it has its present ledger, and of no other node.
  void tell(unsigned number, Roster roster) {
    auto& membership = node(number).membership();
    const std::string& ledger = membership.record().ledger_id;  // empty: the node's own id
    for (RosterMember& member : roster.members) {
      if (member.id == id_of(number) && !ledger.empty()) member.ledger = ledger;
    }
    const auto step = membership.learn(roster, {}, now());
    REQUIRE(step.wanted);
    node(number).coverage().cover_roster(*step.wanted, now());
  }
  // A group of nodes 1 to 5.
  Client& make_group(const Roster& first = roster(1, {1, 2, 3, 4, 5})) {
    Client& founder = new_client({1, 2, 3, 4, 5});
    pass(20ms);
    REQUIRE(change(founder, first).outcome == coordinator::RosterOutcome::chosen);
    return founder;
  }

  coordinator::AcquireResult acquire(Client& client, const std::string& name,
                                     Duration length = 2s) {
    std::optional<coordinator::AcquireResult> result;
    coordinator::AcquireRequest request{.name = name, .ttl = 10s};
    request.patience.wait = length;
    client.group().acquire(std::move(request), now(),
                           [&](coordinator::AcquireResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, length + 5s));
    return *result;
  }
  coordinator::ExtensionOutcome extend(Client& client, coordinator::HeldLock& lock) {
    std::optional<coordinator::ExtendResult> result;
    client.group().extend(lock, now(),
                          [&](coordinator::ExtendResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, 5s));
    lock.valid_until = result->valid_until;
    return result->outcome;
  }
  coordinator::ReleaseResult release(Client& client, const coordinator::HeldLock& lock) {
    std::optional<coordinator::ReleaseResult> result;
    client.group().release(lock, now(),
                           [&](coordinator::ReleaseResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, 5s));
    return *result;
  }
  std::uint64_t epoch_of(unsigned number) {
    return node(number).membership().record().current.epoch;
  }
};

inline std::vector<std::string> names(NodeWorld::Client& client) {
  std::vector<std::string> names;
  for (const auto& node : client.group().nodes()) names.push_back(node.name);
  return names;
}

inline bool is_acquired(const coordinator::AcquireResult& result) {
  return result.outcome == coordinator::AcquisitionOutcome::acquired;
}

}  // namespace redlock
