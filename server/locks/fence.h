// Fence: the node's share of the fencing tokens (rules F1, F2, F3, F5, F6, F8).
//
// A counter for each of 1024 slots of the keys' hash, and one bound H that no counter passes. Every
// grant takes the next number of its slot; coordinators make the largest of a quorum's numbers the
// token, and bring the other nodes up to it. H is durable before it is in force, and a new run
// starts all counters at the old H: so no number is given twice, with no write per lock.
//
//   Fence fence({.first = old H, .bound = new H, .fenced = true});
//   const std::uint64_t token = fence.grant(key);  // the lock's
//   fence.proposal_of(token)                       // what its reply tells
//   if (fence.has_room_for(t)) fence.reach(key, t);  // a confirmed token, or a top-up's
//   fence.raise_bound(h);                          // it is durable
//
// Thread safety: none. Invariant: no counter is larger than the bound.
#pragma once

#include "base/invariant.h"
#include "base/token.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redlock::server {

class Fence {
 public:
  static constexpr std::size_t kSlots = 1024;

  struct Start {
    std::uint64_t first = 0;          // all counters: the bound that was in force before
    std::uint64_t bound = kTokenMax;  // in force now
    bool fenced = true;
  };
  explicit Fence(const Start& start) : bound_(start.bound), fenced_(start.fenced) {
    counters_.fill(start.first);
    largest_ = start.first;
  }

  // The same on every node, so that the counters of nodes that saw the same grants agree, and a
  // quorum's numbers do. It is no secret: who finds keys that fall together shares a counter.
  static std::size_t slot_of(std::string_view key);

  // What a new lock stores as its token: larger than every token that this node accepted for the
  // key (rule F2). A grant that would pass the bound gets H + 1, which is no proposal.
  std::uint64_t grant(std::string_view key) {
    std::uint64_t& counter = counters_[slot_of(key)];
    if (counter == bound_) return bound_ + 1;
    largest_ = std::max(largest_, ++counter);
    return counter;
  }
  // The proposal that a grant's reply carries; 0: none. An unfenced node counts, and proposes
  // nothing (rule F6).
  std::uint64_t proposal_of(std::uint64_t granted) const {
    return fenced_ && granted <= bound_ ? granted : 0;
  }

  bool has_room_for(std::uint64_t token) const { return token <= bound_; }
  bool leaps_too_far(std::string_view key, std::uint64_t token) const {
    const std::uint64_t counter = counters_[slot_of(key)];
    return token > counter && token - counter > kLeapMax;
  }
  // No counter falls (rule F8). REQUIRES: has_room_for(token).
  void reach(std::string_view key, std::uint64_t token) {
    INVARIANT(has_room_for(token), "a counter that would pass the fencing bound");
    raise(slot_of(key), token);
  }
  // The same for every key: an admission (rule F6). REQUIRES: has_room_for(floor).
  void reach_everywhere(std::uint64_t floor);

  // REQUIRES: durable, and not below the one in force (rule F1).
  void raise_bound(std::uint64_t bound) {
    INVARIANT(bound >= bound_, "a fencing bound that falls");
    bound_ = bound;
  }
  void set_fenced(bool fenced) { fenced_ = fenced; }

  std::uint64_t largest() const { return largest_; }  // of all counters
  std::uint64_t bound() const { return bound_; }
  bool is_fenced() const { return fenced_; }

 private:
  void raise(std::size_t slot, std::uint64_t token) {
    counters_[slot] = std::max(counters_[slot], token);
    largest_ = std::max(largest_, token);
  }

  std::array<std::uint64_t, kSlots> counters_;
  std::uint64_t largest_ = 0;
  std::uint64_t bound_;
  bool fenced_;
};

}  // namespace redlock::server
