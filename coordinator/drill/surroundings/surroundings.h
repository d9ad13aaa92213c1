// Surroundings: where the nodes and clients of a drill run and what lies between them, and what
// befalls them there from outside. What is done to the processes themselves, as SIGKILL, is no
// matter of theirs. relayed_network.h has relays, partition.h a network in namespaces,
// jumping_clocks.h wall clocks.
//
//   surroundings.set_up(nodes, clients);       // or: what this machine lacks
//   …start each node at surroundings.place_of_node(i)…
//   surroundings.connect(addresses);
//   …start each client at surroundings.place_of_client(i), with surroundings.nodes_of(i)…
//   surroundings.befall(faults, recorder);     // as the plan has it
//   surroundings.restore(recorder);
//
// Thread safety: none; all on the loop's thread. Calls may wait on the drill's stage.
#pragma once

#include "coordinator/drill/plan/faults.h"
#include "coordinator/drill/world/place.h"
#include "coordinator/drill/world/recorder.h"
#include <redlock/result.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace redlock::drill {

class Surroundings {
 public:
  virtual ~Surroundings() = default;

  // Once, first of all. The error says what this machine lacks or forbids.
  virtual Status set_up(std::size_t nodes, std::size_t clients) = 0;
  virtual Place place_of_node(std::size_t node) const = 0;
  virtual Place place_of_client(std::size_t client) const = 0;

  // The nodes answer at these addresses.
  virtual Status connect(const std::vector<std::string>& nodes) = 0;
  // The addresses that this client is to use, separated by commas.
  virtual std::string nodes_of(std::size_t client) const = 0;

  // Where whoever is none of the clients reaches a node, through what befalls it from outside, and
  // clients one that they were not given. `node`: any number, of those that connect() named or
  // later ones; `address`: where it answers.
  virtual Result<std::string> common_address(std::size_t /*node*/, const std::string& address) {
    return address;
  }

  // Does what befalls them at one time, and tells it to the history. REQUIRES: faults of its kinds.
  virtual Status befall(std::span<const PlannedFault> faults, Recorder& recorder) = 0;
  // Whatever still befalls them ends.
  virtual Status restore(Recorder& recorder) = 0;
};

// A history's word for a cut, heal, slow, unslow or jump.
Event event_of(const PlannedFault& fault);

}  // namespace redlock::drill
