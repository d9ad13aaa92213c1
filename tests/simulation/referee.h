// Referee: knows the true time and everybody's beliefs, and checks after every step what safety.md
// §1 promises.
//
//   exclusion   at most one client relies on a lock: from the moment at which it was told that it
//               has it to the end of its validity on its own clock, or until it lets go
//   tokens      no two holders of a key have the same; whoever began to ask after a token was given
//               gets a larger one
//   recovering  a recovering node grants and extends nothing
//   undone      what an attempt left behind on a node is released there, soon, while the two can
//               reach each other (rule Q3)
//   left over   when all is over no node holds anything
//   not free    when the faults have ended, a free lock is got within a bound
#pragma once

#include "coordinator/answer.h"
#include "tests/simulation/agenda.h"
#include "tests/simulation/skewed_clock.h"
#include "tests/simulation/story.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

enum class Breach : std::uint8_t { overlap, token, recovering, undone, left_over, not_free };

std::string_view breach_name(Breach breach);

struct Violation {
  Breach breach;
  TrueTime when;
  std::string text;
};

class Referee {
 public:
  using HoldId = std::size_t;

  Referee(Agenda& agenda, Story& story) : agenda_(agenda), story_(story) {}

  // A client begins to rely on a lock. clock: its own, outlives the run. asked: before the first
  // byte of the attempt. token 0: it has none.
  struct Hold {
    unsigned client;
    unsigned key;
    coordinator::Token token;
    TrueTime asked;
    Instant valid_until;
    const SkewedClock* clock;
    TrueTime began = {};
    bool has_ended = false;
  };
  HoldId begin(Hold hold);
  void extend(HoldId id, Instant valid_until);
  void end(HoldId id) { holds_[id].has_ended = true; }

  void found(Breach breach, std::string text);

  // The first that counts: where clocks break their bounds, two holders are only counted.
  const std::optional<Violation>& violation() const { return violation_; }
  void expect_overlaps() { overlaps_expected_ = true; }
  std::uint64_t overlaps() const { return overlaps_; }
  std::uint64_t holds() const { return holds_.size(); }

 private:
  bool is_relied_on(const Hold& hold) const;
  void check_alone(const Hold& hold);
  void check_token(const Hold& hold);

  Agenda& agenda_;
  Story& story_;
  std::vector<Hold> holds_;
  std::map<unsigned, std::vector<HoldId>> by_key_;
  std::optional<Violation> violation_;
  bool overlaps_expected_ = false;
  std::uint64_t overlaps_ = 0;
};

}  // namespace redlock::simulation
