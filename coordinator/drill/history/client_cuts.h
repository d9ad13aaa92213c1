// From which nodes each client was cut off, and when: a history tells it of the nodes, and whoever
// looks at a client's row asks whom it could not reach.
#pragma once

#include "coordinator/drill/history/story.h"

#include <cstddef>
#include <string>
#include <vector>

namespace redlock::drill {

// A time in which a client could not speak with the same nodes.
struct ClientCut {
  std::size_t client = 0;
  TimeRange time;
  std::vector<std::size_t> nodes;  // of the story's parties, by number
  bool has_quorum = false;         // of nodes that it could speak with
};

// By client, then by time, without what is shorter than a millisecond. A node that hears its
// client, or is heard, in one direction alone is one that it cannot speak with.
std::vector<ClientCut> client_cuts(const History& history, const Story& story);

// "from node 1 and node 2, and so from every quorum".
std::string note_of(const ClientCut& cut, const Story& story);

}  // namespace redlock::drill
