// Calm: the world once all faults have ended, in which free locks are got and kept and each node is
// heard. What a message and a turn of a node's loop take was drawn for other times: beside a fast
// clock or a short TTL it may be more than anybody promises to bear. So in the calm all of them
// take less by the same part, as much as is needed:
//
//   each node's answer comes before the node timeout, on every client's clock
//   a lock of probe_ttl() is got in two rounds, and extended in a third before it counts as lost
//   an answer that waits for the node's ledger, two syncs for each of its copies, is in time too
#pragma once

#include "tests/simulation/scenario.h"

#include <cstdint>

namespace redlock::simulation {

// How long before the end of its validity a kept lock counts as lost, as a part of its TTL.
inline constexpr int kNoticePart = 20;

class Calm {
 public:
  explicit Calm(const Scenario& scenario);

  // What takes so long at other times.
  Duration shortened(Duration time) const;
  Duration sync_max() const { return sync_max_; }
  // The longest TTL that every node grants, whichever max-ttl it has (rule L1).
  Duration probe_ttl() const { return probe_ttl_; }

 private:
  Duration probe_ttl_;
  Duration sync_max_;  // of a disk
  std::int64_t millionths_;
};

}  // namespace redlock::simulation
