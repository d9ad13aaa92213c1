#include "coordinator/drill/surroundings/relayed_network.h"

#include "coordinator/client/node_address.h"

#include <sys/resource.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

using Way = PlannedFault::Way;

// What the drill's process has open at once.
constexpr std::size_t kFilesOfRelay = 3;   // its listener, and both ends of a connection
constexpr std::size_t kFilesOfClient = 2;  // a connection to the store, and its guard
constexpr std::size_t kFilesOfDrill = 100;

// Many systems have 1024, and let a process have more if it asks.
Status allow_open_files(rlim_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return Done{};
  limit.rlim_cur = count;
  if (limit.rlim_max >= count && setrlimit(RLIMIT_NOFILE, &limit) == 0) return Done{};
  return Failure{fmt::format("{} open files are needed, and the system allows {} (ulimit -n)",
                             count, limit.rlim_max)};
}

void cut(Relay& relay, Way way) {
  if (way != Way::from_node) relay.cut(Relay::Way::to_node);
  if (way != Way::to_node) relay.cut(Relay::Way::from_node);
}

}  // namespace

RelayedNetwork::RelayedNetwork(net::Loop& loop, std::string folder)
    : loop_(loop), folder_(std::move(folder)) {}

Status RelayedNetwork::set_up(std::size_t nodes, std::size_t clients) {
  clients_ = clients;
  return allow_open_files(clients * (nodes * kFilesOfRelay + kFilesOfClient) + kFilesOfDrill);
}

Status RelayedNetwork::connect(const std::vector<std::string>& nodes) {
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    Relays& its = relays_.emplace_back();
    const net::Address address = coordinator::parse_node_address(nodes[node]).value().address;
    for (std::size_t client = 0; client < clients_; ++client) {
      its.push_back(std::make_unique<Relay>(loop_, address));
      if (auto listens = its.back()->listen({path(node, client)}); !listens) return listens;
    }
  }
  return Done{};
}

std::string RelayedNetwork::path(std::size_t node, std::size_t client) const {
  return fmt::format("{}/client-{}-node-{}", folder_, client + 1, node + 1);
}

std::string RelayedNetwork::nodes_of(std::size_t client) const {
  std::string nodes;
  for (std::size_t node = 0; node < relays_.size(); ++node) {
    nodes += fmt::format("{}unix://{}", node == 0 ? "" : ",", path(node, client));
  }
  return nodes;
}

Result<std::string> RelayedNetwork::common_address(std::size_t node, const std::string& address) {
  auto relay =
      std::make_unique<Relay>(loop_, coordinator::parse_node_address(address).value().address);
  if (auto listens = relay->listen({.host = "127.0.0.1", .port = 0}); !listens)
    return listens.error();
  const std::string common = fmt::format("redis://127.0.0.1:{}", relay->port());
  common_[node] = std::move(relay);
  return common;
}

// One client is cut off on a way of its own; the common one is cut for all.
std::vector<Relay*> RelayedNetwork::relays_of(const PlannedFault& fault) const {
  std::vector<Relay*> relays;
  const bool is_given = fault.victim < relays_.size();
  if (is_given) {
    for (const std::size_t client : fault.clients)
      relays.push_back(relays_[fault.victim][client].get());
  }
  if (!fault.clients.empty()) return relays;
  if (is_given) {
    for (const auto& relay : relays_[fault.victim]) relays.push_back(relay.get());
  }
  const auto common = common_.find(fault.victim);
  if (common != common_.end()) relays.push_back(common->second.get());
  return relays;
}

Status RelayedNetwork::befall(std::span<const PlannedFault> faults, Recorder& recorder) {
  for (const PlannedFault& fault : faults) {
    if (relays_of(fault).empty()) continue;
    befall(fault);
    recorder.tell(event_of(fault));
  }
  return Done{};
}

void RelayedNetwork::befall(const PlannedFault& fault) {
  for (Relay* const relay : relays_of(fault)) {
    if (fault.fault == Fault::cut) cut(*relay, fault.way);
    if (fault.fault == Fault::heal) relay->heal();
    if (fault.fault == Fault::slow) relay->slow(fault.delay);
    if (fault.fault == Fault::unslow) relay->unslow();
  }
}

Status RelayedNetwork::restore(Recorder&) {
  for (const Relays& of_one_node : relays_) {
    for (const auto& relay : of_one_node) {
      relay->heal();
      relay->unslow();
    }
  }
  for (const auto& [node, relay] : common_) {
    relay->heal();
    relay->unslow();
  }
  return Done{};
}

}  // namespace redlock::drill
