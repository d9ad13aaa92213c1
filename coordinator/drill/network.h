// The network of a drill: a relay between each client and each node, so that what lies between
// them can be cut and slowed. What is done is told to the history.
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "coordinator/drill/faults.h"
#include "coordinator/drill/recorder.h"
#include "coordinator/drill/relay.h"

#include <memory>
#include <string>
#include <vector>

namespace redlock::coordinator {

class DrillNetwork {
 public:
  // Sockets go to the folder, whose name is short enough for them.
  DrillNetwork(net::Loop& loop, Recorder& recorder, std::string folder);

  // A relay for each pair.
  Status connect(const std::vector<std::string>& nodes, std::size_t clients);
  // The nodes' addresses, separated by commas, as this client is to use them.
  std::string nodes_of(std::size_t client) const;

  // REQUIRES: one of the four, of a node.
  void befall(const PlannedFault& fault);
  void restore();

 private:
  using Relays = std::vector<std::unique_ptr<Relay>>;  // of one node, by client

  std::string path(std::size_t node, std::size_t client) const;
  std::vector<std::size_t> clients_of(const PlannedFault& fault) const;

  net::Loop& loop_;
  Recorder& recorder_;
  const std::string folder_;
  std::vector<Relays> relays_;
};

}  // namespace redlock::coordinator
