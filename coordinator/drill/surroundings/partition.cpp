#include "coordinator/drill/surroundings/partition.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::drill {
namespace {

constexpr std::uint16_t kPort = 7001;  // nobody else is at a node's address

using Way = PlannedFault::Way;

}  // namespace

PartitionedNetwork::PartitionedNetwork(Stage& stage, std::string folder)
    : network_(stage, std::move(folder)) {}

Status PartitionedNetwork::set_up(std::size_t nodes, std::size_t clients) {
  clients_ = clients;
  std::vector<OwnNetwork::Member> members;
  for (std::size_t i = 0; i < nodes; ++i) {
    members.push_back({node_name(i), fmt::format("10.0.1.{}", i + 1)});
  }
  for (std::size_t i = 0; i < clients; ++i) {
    members.push_back({client_name(i), fmt::format("10.0.2.{}", i + 1)});
  }
  return network_.set_up(members);
}

Place PartitionedNetwork::place_of_node(std::size_t node) const {
  const std::string name = node_name(node);
  return {.host = network_.address_of(name),
          .port = kPort,
          .network_namespace = network_.namespace_of(name)};
}

Place PartitionedNetwork::place_of_client(std::size_t client) const {
  return {.network_namespace = network_.namespace_of(client_name(client))};
}

Status PartitionedNetwork::connect(const std::vector<std::string>& nodes) {
  nodes_ = fmt::format("{}", fmt::join(nodes, ","));
  return Done{};
}

void PartitionedNetwork::add_ways(const PlannedFault& fault, Ways& ways) const {
  std::vector<std::size_t> clients = fault.clients;
  for (std::size_t i = 0; fault.clients.empty() && i < clients_; ++i) clients.push_back(i);
  // A heal heals both ways, whatever was cut.
  const bool is_heal = fault.fault == Fault::heal;
  const std::string node = node_name(fault.victim);
  for (const std::size_t client : clients) {
    if (is_heal || fault.way != Way::from_node) ways.push_back({client_name(client), node});
    if (is_heal || fault.way != Way::to_node) ways.push_back({node, client_name(client)});
  }
}

void PartitionedNetwork::keep_in_mind(const PlannedFault& fault) {
  if (fault.fault == Fault::cut) cut_.insert(fault.victim);
  if (fault.fault == Fault::heal) cut_.erase(fault.victim);
  if (fault.fault == Fault::slow) slowed_.insert(fault.victim);
  if (fault.fault == Fault::unslow) slowed_.erase(fault.victim);
}

// A cut is told when it is there, and a healing before it begins: whoever is said to be cut off is.
Status PartitionedNetwork::befall(std::span<const PlannedFault> faults, Recorder& recorder) {
  const auto tell = [&](Fault first, Fault second) {
    for (const PlannedFault& fault : faults) {
      if (fault.fault == first || fault.fault == second) recorder.tell(event_of(fault));
    }
  };
  tell(Fault::heal, Fault::unslow);
  Ways cut;
  Ways healed;
  Status done = Done{};
  for (const PlannedFault& fault : faults) {
    const std::string node = node_name(fault.victim);
    keep_in_mind(fault);
    if (fault.fault == Fault::cut) add_ways(fault, cut);
    if (fault.fault == Fault::heal) add_ways(fault, healed);
    if (done && fault.fault == Fault::slow) done = network_.slow(node, fault.delay);
    if (done && fault.fault == Fault::unslow) done = network_.unslow(node);
  }
  if (done && !healed.empty()) done = network_.heal(healed);
  if (done && !cut.empty()) done = network_.cut(cut);
  tell(Fault::cut, Fault::slow);
  return done;
}

Status PartitionedNetwork::restore(Recorder& recorder) {
  std::vector<PlannedFault> ends;
  for (const std::size_t node : cut_) ends.push_back({.fault = Fault::heal, .victim = node});
  for (const std::size_t node : slowed_) ends.push_back({.fault = Fault::unslow, .victim = node});
  return ends.empty() ? Status(Done{}) : befall(ends, recorder);
}

}  // namespace redlock::drill
