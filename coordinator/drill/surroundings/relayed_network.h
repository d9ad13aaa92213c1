// Surroundings with a relay between each client and each node, so that what lies between them can
// be cut and slowed, on any machine.
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "coordinator/drill/surroundings/relay.h"
#include "coordinator/drill/surroundings/surroundings.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace redlock::drill {

class RelayedNetwork final : public Surroundings {
 public:
  // Sockets go to the folder, whose name is short enough for them.
  RelayedNetwork(net::Loop& loop, std::string folder);

  // Raises the process's limit of open files where that is needed.
  Status set_up(std::size_t nodes, std::size_t clients) override;
  Place place_of_node(std::size_t) const override { return {}; }
  Place place_of_client(std::size_t) const override { return {}; }
  Status connect(const std::vector<std::string>& nodes) override;
  std::string nodes_of(std::size_t client) const override;
  Result<std::string> common_address(std::size_t node, const std::string& address) override;
  // cut, heal, slow, unslow
  Status befall(std::span<const PlannedFault> faults, Recorder& recorder) override;
  Status restore(Recorder& recorder) override;

 private:
  using Relays = std::vector<std::unique_ptr<Relay>>;  // of one node, by client

  void befall(const PlannedFault& fault);
  std::vector<Relay*> relays_of(const PlannedFault& fault) const;
  std::string path(std::size_t node, std::size_t client) const;

  net::Loop& loop_;
  const std::string folder_;
  std::size_t clients_ = 0;
  std::vector<Relays> relays_;
  std::map<std::size_t, std::unique_ptr<Relay>> common_;  // by node
};

}  // namespace redlock::drill
