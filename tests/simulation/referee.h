// Referee: knows the true time and everybody's beliefs, and checks after every step what safety.md
// §1 promises.
//
//   exclusion   at most one client relies on a lock: from the moment at which it was told that it
//               has it to the end of its validity on its own clock, or until it lets go
//   tokens      no two holders of a key have the same; whoever began to ask after a token was given
//               gets a larger one
//   recovering  a recovering node grants and extends nothing
//   revived     a validity that has ended is not begun, nor extended (rules Q2, Q4)
//   returned    a lock whose release a quorum has confirmed is not extended by whoever begins to
//               after that (rule Q3); not where a node has lost its marks since, in a crash
//   undone      what a client has begun to release is released on every node, soon, while the two
//               can reach each other (rule Q3); one that is released nowhere shows as `not free`
//   left over   when all is over no node holds anything, and each that lost its ledger is admitted
//   not free    when the faults have ended, a free lock is got within a bound, and kept
//   lost        a node that has not been restarted lacks a lock that it gave, which is valid
//   late        an operation ends as soon as its node timeouts and its wait are over (rule Q1)
//   asleep      a holder whose machine slept still counts on its lock (rule C3)
//   forgotten, misread   of a node's start: see obligations.h
//   kept        a quorum of nodes holds what a front door has told its user that it did not get,
//               and the door no longer gives anything back (rules D5, D7)
//   told free   a front door says that nobody holds a lock, or not who asks, and its holder has
//               relied on it from when that was asked (rule D3)
//   miscounted  what is counted in a lock's own record was done more often than it was asked for,
//               or is forgotten although its holder was told of it (rule D9)
//   untold      of those who wait for a key that is free nobody is called in time: see line_watch.h
//   two rosters, unchosen, no successor, behind   of the group's rosters: see roster_judge.h
#pragma once

#include "coordinator/quorum/answer.h"
#include "tests/simulation/agenda.h"
#include "tests/simulation/skewed_clock.h"
#include "tests/simulation/story.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace redlock::simulation {

enum class Breach : std::uint8_t {
  overlap,
  token,
  recovering,
  revived,
  undone,
  left_over,
  not_free,
  returned,
  lost,
  late,
  asleep,
  forgotten,
  misread,
  told_free,
  kept,
  miscounted,
  untold,
  two_rosters,
  unchosen,
  no_successor,
  behind
};

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
  // byte of the attempt. token 0: it has none. granted: the earliest at which a node can have
  // granted it; when it begins, if that is not given.
  struct Hold {
    unsigned client;
    unsigned key;
    Token token;
    TrueTime asked;
    Instant valid_until;
    const SkewedClock* clock;
    TrueTime granted = kEndOfTime;
    TrueTime began = {};
    bool has_ended = false;
    bool is_given_away = false;
  };
  HoldId begin(Hold hold);
  void extend(HoldId id, Instant valid_until);
  void end(HoldId id) { holds_[id].has_ended = true; }

  // --- users of front doors, who know no validity

  // It was told that its lock is extended when it no longer relied on it.
  void extend_anew(HoldId id, Instant valid_until);
  // A user was told that the key is free, or that it does not hold it, which it asked at `since`.
  void check_free(unsigned key, TrueTime since, unsigned client);
  void check_free(HoldId id, TrueTime since, std::string_view what);
  // The door told its user so, whose value was in this one request.
  void note_refused(const std::string& value, unsigned door) { refused_[value] = door; }
  // It is asked for anew.
  void forget_refused(const std::string& value) { refused_.erase(value); }
  // A door that was killed owes nothing any more.
  void forget_refused_by(unsigned door);
  // By which door; nullopt: it was not.
  std::optional<unsigned> refused_by(const std::string& value) const;
  // The holder has sent what would end, or move, another's lock of the same value, from now until
  // the result is called.
  std::function<void()> note_loose(HoldId id);

  // Somebody else releases it by its value, and vouches that nobody needs it: whatever its holder
  // believes until it notices does not count.
  void give_away(HoldId id) { holds_[id].is_given_away = true; }

  // A client has sent the first release of a value, and what of it arrived where.
  void note_release_sent(const std::string& value, unsigned client);
  void note_release_arrived(const std::string& value, unsigned node);
  // A client that was killed owes nothing any more.
  void forget_debts_of(unsigned client);
  // Who gave the value up, and since when, if no release of it has arrived at the node yet.
  struct Debt {
    unsigned client;
    TrueTime since;
  };
  std::optional<Debt> debt(const std::string& value, unsigned node) const;

  // A quorum has confirmed the release of this value.
  void note_released(const std::string& value) { released_.try_emplace(value, agenda_.now()); }
  // A node has started without what it knew of released values.
  void note_marks_lost() { released_.clear(); }
  void check_not_released(const std::string& value, TrueTime extension_began);

  void found(Breach breach, std::string text);

  // The first that counts: where clocks break their bounds, two holders are only counted.
  const std::optional<Violation>& violation() const { return violation_; }
  void expect_overlaps() { overlaps_expected_ = true; }
  std::uint64_t overlaps() const { return overlaps_; }
  std::uint64_t holds() const { return holds_.size(); }
  Token largest_token() const;

 private:
  bool is_relied_on(const Hold& hold) const;
  void check_alone(const Hold& hold);
  void check_token(const Hold& hold);
  void check_valid(const Hold& hold, std::string_view what);
  bool is_excused(HoldId id) const;

  Agenda& agenda_;
  Story& story_;
  std::vector<Hold> holds_;
  std::map<unsigned, std::vector<HoldId>> by_key_;
  struct GivenUp {
    Debt debt;
    std::set<unsigned> arrived = {};  // nodes
  };
  std::unordered_map<std::string, GivenUp> given_up_;   // by value; never walked in its order
  std::unordered_map<std::string, TrueTime> released_;  // by value; never walked in its order
  struct Loose {
    HoldId by;
    TrueTime until = kEndOfTime;
  };
  std::map<unsigned, std::vector<Loose>> loose_;       // by key
  std::unordered_map<std::string, unsigned> refused_;  // by value; never walked in its order
  std::optional<Violation> violation_;
  bool overlaps_expected_ = false;
  std::uint64_t overlaps_ = 0;
};

}  // namespace redlock::simulation
