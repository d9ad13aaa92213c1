// The surroundings of `redlock drill clock`: this machine's loopback, and a wall clock for each
// node and client that can jump (wall_clocks.h).
#pragma once

#include "coordinator/drill/surroundings/surroundings.h"
#include "coordinator/drill/surroundings/wall_clocks.h"

#include <map>
#include <string>
#include <vector>

namespace redlock::drill {

class JumpingClocks final : public Surroundings {
 public:
  JumpingClocks(Stage& stage, std::string folder);

  Status set_up(std::size_t nodes, std::size_t clients) override;
  Place place_of_node(std::size_t node) const override { return place_of(node_name(node)); }
  Place place_of_client(std::size_t client) const override { return place_of(client_name(client)); }
  Status connect(const std::vector<std::string>& nodes) override;
  std::string nodes_of(std::size_t) const override { return nodes_; }
  // jump
  Status befall(std::span<const PlannedFault> faults, Recorder& recorder) override;
  Status restore(Recorder&) override { return Done{}; }

 private:
  Status add(const std::string& name);
  Place place_of(const std::string& name) const { return {.environment = environments_.at(name)}; }

  WallClocks clocks_;
  std::map<std::string, std::vector<std::string>> environments_;  // by whom
  std::string nodes_;                                             // separated by commas
};

}  // namespace redlock::drill
