// Figures: what a client has done since its start, for its program's metrics.
//
//   const redlock::Figures now = client.figures();
//   locks_total.set(now.acquired); nodes_connected.set(now.connected());
//
// Counters only rise. Each is exact, but they are read one after the other while the client works
// on, so one may be ahead of another by what happens meanwhile.
#pragma once

#include <redlock/same_library.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock {

struct Figures {
  // How many took how long, a histogram: each bucket counts what was longer than the one before it,
  // from a tenth of a millisecond to a minute, and the last one, which has no end, the rest.
  struct Times {
    static constexpr std::chrono::nanoseconds kEndless = std::chrono::nanoseconds::max();
    struct Bucket {
      std::chrono::nanoseconds up_to{0};
      std::uint64_t count = 0;
    };
    std::vector<Bucket> buckets = {};
    std::chrono::nanoseconds sum{0};
  };

  // --- Acquisitions, by acquire, guard, guards and a Mutex. Each ends as one of the three.
  std::uint64_t attempts = 0;  // a round of questions to all nodes; an acquisition makes many
  std::uint64_t acquired = 0;
  std::uint64_t refused = 0;        // another held it for as long as it was waited for
  std::uint64_t failed = 0;         // no quorum, too late, no token, beyond the nodes' limits
  std::uint64_t split_votes = 0;    // attempts that failed as others wanted the lock, too
  std::uint64_t second_rounds = 0;  // locks whose token took the nodes a second round trip
  Times acquisition_times = {};     // of those acquired, with what they waited for another's end
  // --- Extensions, by extend, keep and every guard.
  std::uint64_t extended = 0;
  std::uint64_t not_extended = 0;
  // --- Of guards: locks that could not be kept.
  std::uint64_t lost = 0;
  // --- Releases, by release and of guards. Late is one with less than a fifth of the lock's TTL
  // left: the TTL is short for the work, or the lock is extended too seldom.
  std::uint64_t released = 0;
  std::uint64_t released_late = 0;
  Times validity_left_at_release = {};  // but for locks whose validity the client does not know

  std::size_t under_way = 0;  // operations that were begun and not told of yet
  std::size_t kept = 0;       // guards that hold a lock, or have lost it and not been let go

  struct Node {
    std::string address;            // never with the password
    bool is_connected = false;      // and has told who it is: it is asked at once
    std::uint64_t connections = 0;  // that were made to it
    // Of the last question that did not wait behind another; 0: none was answered yet.
    std::chrono::nanoseconds round_trip{0};
    // Its votes on the client's attempts: one that goes on giving none costs locks their safety
    // margin, and one that alone says no has a lock that others have not. They begin anew with a
    // node that joins.
    std::uint64_t votes_yes = 0;
    std::uint64_t votes_no = 0;    // held by another
    std::uint64_t votes_none = 0;  // no answer, or none that is a vote: it recovers
  };
  std::vector<Node> nodes = {};  // in the order of ClientOptions::nodes

  std::size_t connected() const {
    std::size_t count = 0;
    for (const Node& node : nodes) count += node.is_connected ? 1 : 0;
    return count;
  }
};

}  // namespace redlock
