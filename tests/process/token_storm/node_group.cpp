#include "tests/process/token_storm/node_group.h"

#include "base/net/turn/clock.h"
#include "tests/process/ports.h"
#include "tests/support/blocking_client.h"

#include <thread>

#include <fmt/format.h>

namespace redlock::token_storm {

NodeGroup::NodeGroup(const std::string& program, const std::string& folder,
                     const std::vector<std::string>& flags) {
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes_.push_back(std::make_unique<NodeProcess>(
        NodeProcess::Settings{.program = program,
                              .folder = fmt::format("{}/node-{}", folder, i),
                              .port = reserve_ports(1),
                              .flags = flags}));
  }
}

bool NodeGroup::start() {
  for (auto& node : nodes_) {
    if (!node->bootstrap()) return false;
    node->start();
  }
  for (std::size_t i = 0; i < kNodes; ++i) {
    if (!wait_until_in(i)) return false;
  }
  return true;
}

std::vector<std::string> NodeGroup::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& node : nodes_) addresses.push_back(node->address());
  return addresses;
}

bool NodeGroup::wait_until_in(std::size_t node) const {
  constexpr Duration kPatience = 30s;
  const Instant give_up = net::read_clock(net::ClockKind::monotonic) + kPatience;
  while (net::read_clock(net::ClockKind::monotonic) < give_up) {
    BlockingClient client(nodes_[node]->port());
    const std::string status = client.is_connected() ? client.ask({"LOCK.STATUS"}) : "";
    const bool serves = status.find("\"state\", \"serving\"") != std::string::npos;
    const bool is_fenced = status.find("\"fenced\", (integer) 1") != std::string::npos;
    // Its answer to EXISTS comes when the run is durable (rule R9).
    if (serves && is_fenced && client.ask({"EXISTS", "k"}) == "(integer) 0") return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

}  // namespace redlock::token_storm
