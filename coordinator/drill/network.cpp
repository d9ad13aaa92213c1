#include "coordinator/drill/network.h"

#include "coordinator/node_address.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using Way = PlannedFault::Way;

void cut(Relay& relay, Way way) {
  if (way != Way::from_node) relay.cut(Relay::Way::to_node);
  if (way != Way::to_node) relay.cut(Relay::Way::from_node);
}

// As the node sees it.
Direction direction_of(Way way) {
  switch (way) {
    case Way::both:
      break;
    case Way::to_node:
      return Direction::in;
    case Way::from_node:
      return Direction::out;
  }
  return Direction::both;
}

Event event_of(const PlannedFault& fault) {
  Event event{.who = node_name(fault.victim)};
  if (fault.fault == Fault::cut) {
    event.what = What::cut;
    event.direction = direction_of(fault.way);
    for (const std::size_t client : fault.clients) event.from.push_back(client_name(client));
  } else if (fault.fault == Fault::slow) {
    event.what = What::slowed;
    event.ms = floor_ms(fault.delay);
  } else {
    event.what = fault.fault == Fault::heal ? What::healed : What::unslowed;
  }
  return event;
}

}  // namespace

DrillNetwork::DrillNetwork(net::Loop& loop, Recorder& recorder, std::string folder)
    : loop_(loop), recorder_(recorder), folder_(std::move(folder)) {}

Status DrillNetwork::connect(const std::vector<std::string>& nodes, std::size_t clients) {
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    Relays& its = relays_.emplace_back();
    const net::Address address = parse_node_address(nodes[node]).value().address;
    for (std::size_t client = 0; client < clients; ++client) {
      its.push_back(std::make_unique<Relay>(loop_, address));
      if (auto listens = its.back()->listen(path(node, client)); !listens) return listens;
    }
  }
  return Done{};
}

std::string DrillNetwork::path(std::size_t node, std::size_t client) const {
  return fmt::format("{}/client-{}-node-{}", folder_, client + 1, node + 1);
}

std::string DrillNetwork::nodes_of(std::size_t client) const {
  std::string nodes;
  for (std::size_t node = 0; node < relays_.size(); ++node) {
    nodes += fmt::format("{}unix://{}", node == 0 ? "" : ",", path(node, client));
  }
  return nodes;
}

std::vector<std::size_t> DrillNetwork::clients_of(const PlannedFault& fault) const {
  if (!fault.clients.empty()) return fault.clients;
  std::vector<std::size_t> all(relays_[fault.victim].size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

void DrillNetwork::befall(const PlannedFault& fault) {
  for (const std::size_t client : clients_of(fault)) {
    Relay& relay = *relays_[fault.victim][client];
    if (fault.fault == Fault::cut) cut(relay, fault.way);
    if (fault.fault == Fault::heal) relay.heal();
    if (fault.fault == Fault::slow) relay.slow(fault.delay);
    if (fault.fault == Fault::unslow) relay.unslow();
  }
  recorder_.tell(event_of(fault));
}

void DrillNetwork::restore() {
  for (const Relays& of_one_node : relays_) {
    for (const auto& relay : of_one_node) {
      relay->heal();
      relay->unslow();
    }
  }
}

}  // namespace redlock::coordinator
