// The plan of a drill: what befalls whom and when, derived from a seed before anything runs. The
// same terms make the same plan, on every machine.
//
// Strands run beside each other, one of nodes, one of clients, one of doors. A strand is a row of
// episodes: a single fault with its end (a node is killed, and started again later), or several
// that belong together (a majority killed within moments). Episodes are dealt as from a pack of
// cards, so that each kind comes as often as its terms say, and in an order that nobody chose.
// Whatever an episode breaks is whole again before the next one of its strand begins: so there are
// always moments in which locks can be had, and there is something to be lost.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock::drill {

enum class Fault {
  kill,     // SIGKILL
  start,    // again, after a kill or a clean stop
  stop,     // SIGSTOP
  resume,   // SIGCONT
  restart,  // a clean stop; it is started again as soon as it has ended. Nodes only
  cut,      // nothing gets through between the node and these clients any more
  heal,     // what was held back arrives
  slow,     // each message between the node and these clients takes so much longer
  unslow,
  jump,  // its wall clock, by `delay`; back, if that is below zero
};

struct PlannedFault {
  Duration at{0};  // since the faults began
  Fault fault = Fault::kill;
  enum class Whom { node, client, door } whom = Whom::node;
  std::size_t victim = 0;  // its index among its like
  // kill, stop, resume of a client that is a `redlock run`: its loop alone, its guard process alone
  // (rule H1), or both.
  enum class Part { all, loop, guard } part = Part::all;
  // cut, slow; `delay` also jump
  std::vector<std::size_t> clients = {};  // that it is cut off from; empty: from all
  Whom clients_are = Whom::client;        // or doors, where it is they who talk to nodes
  enum class Way { both, to_node, from_node } way = Way::both;
  Duration delay{0};
  // Of the group, that it is done for (Event::change).
  std::string change = {};
  // resume of a client: later, if need be, so that whatever it held has its next holder.
  bool once_overtaken = false;
};

struct PlanTerms {
  std::uint64_t seed = 1;
  Duration length = 60s;
  Duration ttl = 2s;
  std::size_t nodes = 5;
  std::size_t clients = 16;
  std::size_t doors = 0;  // between clients and nodes; 0: clients talk to nodes
};

// What counts as a fault of a node, or a client: each deed but those that end one.
bool begins_harm(Fault fault);
// Whether it is done to the process itself, not to what is around it.
bool is_of_process(Fault fault);

}  // namespace redlock::drill
