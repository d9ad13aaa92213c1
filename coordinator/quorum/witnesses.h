// Witnesses: which nodes have told a lock's holder that they hold it, and must hold it still.
//
// A node that told so on the present connection has not been restarted since, and before its time
// is over it does not let go by itself. If it lacks the lock all the same, somebody has released it
// there (rule Q3). Such a node is not topped up: its "no" is a vote, also on a plain Redis, which
// keeps no marks of what was released.
//
// Times are the holder's: CLOCK_BOOTTIME. Thread safety: none; it is read and written where the
// group is.
#pragma once

#include "coordinator/quorum/answer.h"

#include <memory>
#include <vector>

namespace redlock::coordinator {

class Witnesses {
 public:
  explicit Witnesses(std::size_t nodes) : told_(nodes) {}

  // until: by then its time may be over, on whatever clock within the drift bound.
  void note(NodeIndex node, std::uint64_t connection, Instant until) {
    if (node >= told_.size()) told_.resize(node + 1);  // the group has grown since
    told_[node] = {connection, until};
  }
  // It lacks what it must hold: it was released there, and stays so. Else the releases of a quorum
  // that come one after the other, slower than the lock runs out, would never meet.
  void note_lack(NodeIndex node, std::uint64_t connection, Instant now) {
    if (must_hold(node, connection, now)) told_[node].until = kNever;
  }
  bool must_hold(NodeIndex node, std::uint64_t connection, Instant now) const {
    return node < told_.size() && told_[node].connection == connection && now < told_[node].until;
  }

 private:
  struct Told {
    std::uint64_t connection = 0;  // no connection has this number
    Instant until = {};
  };
  std::vector<Told> told_;  // by node
};
using SharedWitnesses = std::shared_ptr<Witnesses>;

}  // namespace redlock::coordinator
