// The surroundings of `redlock drill partition`: a network of the drill's own in which each node
// and each client has an address to itself (own_network.h), so that they are cut apart
// as machines are.
#pragma once

#include "coordinator/drill/surroundings/own_network.h"
#include "coordinator/drill/surroundings/surroundings.h"

#include <set>
#include <string>
#include <vector>

namespace redlock::drill {

class PartitionedNetwork final : public Surroundings {
 public:
  // REQUIRES: enter_own_namespaces() succeeded.
  PartitionedNetwork(Stage& stage, std::string folder);

  Status set_up(std::size_t nodes, std::size_t clients) override;
  Place place_of_node(std::size_t node) const override;
  Place place_of_client(std::size_t client) const override;
  Status connect(const std::vector<std::string>& nodes) override;
  std::string nodes_of(std::size_t) const override { return nodes_; }
  // cut, heal, slow, unslow
  Status befall(std::span<const PlannedFault> faults, Recorder& recorder) override;
  Status restore(Recorder& recorder) override;

  // How the network slows what it slows, for people.
  const char* slowed_by() const { return network_.has_netem() ? "netem" : "tbf"; }

 private:
  using Ways = std::vector<OwnNetwork::OneWay>;
  void keep_in_mind(const PlannedFault& fault);
  void add_ways(const PlannedFault& fault, Ways& ways) const;

  OwnNetwork network_;
  std::size_t clients_ = 0;
  std::set<std::size_t> cut_;     // nodes, from some client at least
  std::set<std::size_t> slowed_;  // nodes
  std::string nodes_;             // separated by commas
};

}  // namespace redlock::drill
