// Token counters that are far from the others', as `redlock status` names them.
//
// The counters of a group lie close together: each acquisition raises a quorum of them to one
// number. One that lies more than kLeapMax from what a quorum has reached did not come there
// by acquisitions: it was damaged, or set by hand, or its node missed all of them (rules F1, F3).
// Such a node has no part in new tokens; that harms nobody as long as the others are a quorum.
//
// It is mended as a lost ledger is (rule F6): the node is stopped, its ledger deleted, and the node
// started; it waits, and is admitted with the floor that the others tell. That is said only where
// it is safe and leads on, so where
// - the nodes that remain fenced are a quorum: without one nobody could admit it;
// - no token was given out of a counter that is far above: those that have it, and the nodes whose
//   counters are not known, are no quorum, so none of its numbers was accepted by one.
#pragma once

#include "base/token.h"
#include <redlock/client.h>

#include <string>
#include <vector>

namespace redlock::coordinator {

struct FarCounter {
  enum class Side : std::uint8_t { above, below };
  std::size_t node;  // its place in the states
  Side side;
  std::string text;  // for people, without the node's address: what is wrong and what to do
};

// Those of the fenced nodes that are far from the q-th largest counter. None where fewer than a
// quorum told of themselves and are fenced: then it is not known who is right.
std::vector<FarCounter> far_counters(const std::vector<NodeState>& states);

}  // namespace redlock::coordinator
