// Planner: what the plans of all drills are made with. A plan is a row of episodes, dealt as from a
// pack of cards; faults.h says why. Each drill's plan derives from it and has its own episodes.
// Two draws never stand in one expression, whose order would be the compiler's.
#pragma once

#include "base/random.h"
#include "coordinator/drill/plan/faults.h"

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace redlock::drill {

class Planner {
 protected:
  // In which several nodes are killed, and one started again.
  static constexpr Duration kBurst = std::chrono::milliseconds(60);

  explicit Planner(const PlanTerms& terms) : terms_(terms), random_(terms.seed) {}
  ~Planner() = default;

  struct Card {
    // Adds the faults of one episode that begins at `at`, and says when all is whole again.
    std::function<Duration(Duration at)> episode;
    Duration rest;  // at least, before the next one
  };
  template <class Plan>
  Card card(Duration (Plan::*episode)(Duration at), Duration rest) {
    return {[this, episode](Duration at) { return (static_cast<Plan*>(this)->*episode)(at); },
            rest};
  }

  // Deals pack after pack until an episode does not fit any more before the end. `first` is played
  // before the first pack, as a pack may be longer than the drill; nullptr: none is.
  void play(std::span<const Card> pack, const Card* first);
  void add(PlannedFault fault) { faults_.push_back(std::move(fault)); }
  void add(Duration at, Fault fault, std::size_t node) {
    add({.at = at, .fault = fault, .victim = node});
  }
  // All that was added, by time.
  std::vector<PlannedFault> take();

  std::size_t majority() const { return terms_.nodes / 2 + 1; }
  std::size_t pick(std::size_t count) { return random_.below(count); }
  PlannedFault::Way pick_way() { return static_cast<PlannedFault::Way>(pick(3)); }

  // Episodes, and parts of them, that several plans have; each says when all is whole again.
  Duration kill_node(Duration at, std::size_t node);
  // Within a moment, and started again within another: well within any hold.
  Duration kill_many(Duration at, std::size_t count);
  Duration stop(Duration at, PlannedFault victim, Duration length);
  // One client, or door, loses sight of a majority, for long enough to lose what it holds. It runs,
  // and must notice.
  Duration cut_client(Duration at);

  // `count` of the first `of` numbers.
  std::vector<std::size_t> pick_several(std::size_t count, std::size_t of);
  // Evenly, to the millisecond, so that a plan reads well.
  Duration between(Duration least, Duration most);
  // In shares of the TTL: what matters is whether a lock outlives a fault.
  Duration ttls(double least, double most);

  const PlanTerms& terms_;

 private:
  bool fits(const Card& card, Duration& at);

  Random random_;
  std::vector<PlannedFault> faults_;
};

}  // namespace redlock::drill
