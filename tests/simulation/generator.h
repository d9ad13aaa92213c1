// A scenario from a seed: a group of its own, clients that contend for few keys, and a mix of
// faults that is another one for each seed. Some kinds are left out of each, so that the others get
// their turn (swarm testing, Groce et al. 2012); some come in bursts, as one fault alone is what
// everything was built for.
#pragma once

#include "tests/simulation/scenario.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace redlock::simulation {

struct Mix {
  std::optional<unsigned> nodes;    // else 3 or 5
  std::optional<unsigned> clients;  // else 2 to 4
  std::vector<Deed> faults;         // of these kinds; see faults_of()
  bool clocks_hold = true;
  std::vector<Deed> also = {};  // of those that are in no mix by themselves; each seed has some
  bool counters_apart = false;  // the nodes begin with counters that may be far from each other
  bool rosters = false;         // the group has a roster, and it changes: roster_plan.h
  bool doors = false;           // naive users go through front doors: doors/door_plan.h
};

// All kinds that a world has whose clocks hold, or one in which they do not. A world in which they
// do not loses no ledger, so that tokens must rise all the same.
//
// Kinds from kFirstLateDeed on, and what else makes a world odd (messages in pieces, plain Redis
// servers), are drawn from chances of their own: without them a seed makes what it always made.
std::vector<Deed> faults_of(bool clocks_hold);
// Those that are in no mix by themselves, as they came later: what a seed makes stays what it was.
std::vector<Deed> faults_on_demand();

Scenario make_scenario(std::uint64_t seed, const Mix& mix);

}  // namespace redlock::simulation
