// Front: the front doors of a world, their users, and the network between them. In front of the
// group, as the world's network is behind it.
#pragma once

#include "tests/simulation/doors/door_host.h"
#include "tests/simulation/doors/naive_user.h"

#include <functional>
#include <memory>
#include <vector>

namespace redlock::simulation {

class Front {
 public:
  // Its doors become clients of the world's network.
  explicit Front(const Surroundings& world);

  void start();
  // Of a deed from kFirstDoorDeed on.
  void happen(const Event& event);
  // All faults end, and nobody wants anything more.
  void calm_down(const Calm& calm);
  bool is_busy() const;
  std::size_t commands() const;  // that have not come to their end, of all doors
  // What nodes hold that a door refused, and no longer releases; values: of all nodes.
  void look_for_kept(const std::vector<std::string>& values);
  // Each door in turn gives a free lock. pass: lets so much time go by; false: the run is over, as
  // this is then.
  bool probe_all(Duration ttl, const std::function<bool(Duration time)>& pass);

  std::uint64_t faults() const;
  std::uint64_t acquired() const;
  std::uint64_t extended() const;

 private:
  const Surroundings world_;
  const Scenario network_plan_;  // the network's: doors as nodes, naive users as clients
  Network network_;
  std::vector<std::unique_ptr<DoorHost>> doors_;
  std::vector<std::unique_ptr<NaiveUser>> users_;
};

}  // namespace redlock::simulation
