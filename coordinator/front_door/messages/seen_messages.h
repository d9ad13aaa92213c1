// SeenMessages: the ids of the messages that a door has told its clients lately, as each reaches it
// from every node that passes it on.
//
// Bounded twice: an id is kept for kSeenTime, by when the slowest node has passed it on or has lost
// its connection; and of more than kSeenMax the oldest are forgotten, so that a message which comes
// once more so late, among so many, is told twice.
//
// Pure. Thread safety: none. Invariant: ids_ holds what seen_ has, each once.
#pragma once

#include "base/time.h"
#include "coordinator/front_door/messages/door_message.h"

#include <cstddef>
#include <deque>
#include <set>

namespace redlock::coordinator {

class SeenMessages {
 public:
  static constexpr Duration kSeenTime = 60s;
  static constexpr std::size_t kSeenMax = 256 * 1024;  // some 30 MB

  // False: it was seen before. REQUIRES: `now` never goes back.
  bool add(const MessageId& id, Instant now) {
    while (!seen_.empty() && now >= later(seen_.front().when, kSeenTime)) forget_oldest();
    if (!ids_.insert(id).second) return false;
    seen_.push_back({id, now});
    if (seen_.size() > kSeenMax) forget_oldest();
    return true;
  }
  std::size_t size() const { return seen_.size(); }

 private:
  struct Seen {
    MessageId id;
    Instant when;
  };
  void forget_oldest() {
    ids_.erase(seen_.front().id);
    seen_.pop_front();
  }

  // In order, not by a hash: who writes to the nodes chooses the ids.
  std::set<MessageId> ids_;
  std::deque<Seen> seen_;
};

}  // namespace redlock::coordinator
