// What a client knows of the locks of one node, and what follows for a start after kill -9.
//
// A client cannot see a node's clock, so what it knows are bounds. A command was executed after its
// first byte was sent and before its reply had been read; so a deadline lies
//
//   between  sent + TTL  and  answered + TTL,
//
// both on CLOCK_MONOTONIC, which the node counts with too. A command without an answer was executed
// before the node was dead, or never. Each check takes the bound that makes it certain: a lock was
// granted again too early only if even its earliest possible deadline had not come; a delay is too
// long only if it is so against the latest.
#pragma once

#include "base/time.h"

#include <deque>
#include <optional>

namespace redlock::kill_storm {

// What a command does to one lock, if it does it.
struct Change {
  enum class Kind {
    grant_if_free,  // SET NX and its like: nothing happens to a lock that is live
    set_deadline,   // SET, PEXPIRE: whatever was there before
    extend,         // LOCK.EXTEND: the later of both deadlines
    end,            // DEL
  };
  Kind kind{};
  Duration ttl{};
  Instant sent;  // read before its first byte was written
};

struct LockRecord {
  Instant certain_until;   // live at least until then (the epoch: nothing is certain)
  Instant possible_until;  // and not after it
  bool lost = false;       // its node was killed since: nothing may be granted while it lasts

  friend bool operator==(const LockRecord&, const LockRecord&) = default;
};

// What was changed, and its end, if the change made it earlier: a lock that was gone at `answered`
// at the latest.
struct Gone {
  Instant answered;
  Instant possible_until;
};

// The change was made; its answer had been read at `answered`.
std::optional<Gone> make(LockRecord& lock, const Change& change, Instant answered);

// The change was made or not, before `dead`.
void doubt(LockRecord& lock, const Change& change, Instant dead);

// Locks that ended before their deadline, for as long as they may matter.
class Endings {
 public:
  void add(const Gone& gone);
  // The latest deadline of those that may have been live at `since` or later.
  std::optional<Instant> latest(Instant since) const;

 private:
  std::deque<Gone> endings_;
};

}  // namespace redlock::kill_storm
