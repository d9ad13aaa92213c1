// A history in spans: who believed what from when to when, and what was done to whom how long. Both
// the checker and the picture are made of these, so they cannot see different things.
//
// Members that are numbers of events index History::events.
#pragma once

#include "coordinator/drill/history/history.h"

#include <optional>

namespace redlock::drill {

// Half open: a belief that ends when the next one begins does not meet it.
struct TimeRange {
  Instant from{};
  Instant to{};

  bool is_empty() const { return to <= from; }
  Duration length() const { return is_empty() ? Duration(0) : to - from; }
};

// One holding of one lock.
struct Hold {
  std::size_t client = 0;
  std::size_t lock = 0;
  std::size_t acquired = 0;  // the event
  std::uint64_t token = 0;
  // When its client believed in it: from `acquired` or an extension that came too late to join, to
  // the first of the validity's end then in force, releases, and lost. Mostly one range; none if
  // the validity was over when the client got to tell.
  std::vector<TimeRange> believed = {};
  Instant valid_until{};                     // as the last extension within the belief left it
  std::optional<std::size_t> releases = {};  // the event that ended it, if one did
  std::optional<std::size_t> lost = {};
};

// Whether a write came after the end of the validity, or after the release. One that is under way
// when its client gives a lock up for lost, ahead of time, is still within the validity.
bool is_late(const History& history, const Hold& hold, Instant write);

// One attempt to acquire, from its first byte to its answer.
struct Attempt {
  std::size_t client = 0;
  std::size_t lock = 0;
  TimeRange time;
  std::optional<std::size_t> hold = {};    // when it succeeded
  std::optional<std::size_t> asks = {};    // the events
  std::optional<std::size_t> waits = {};   // the first: since when it stands in the lock's line
  std::optional<std::size_t> answer = {};  // none: its client was killed, or the history ended
};

// Something that was done to somebody, or a node's delay, and lasted.
struct Spell {
  What what = What::killed;  // killed (and down), stopped, recovering, cut, slowed
  std::size_t party = 0;
  TimeRange time;
  std::size_t begin = 0;  // the event
};

struct Story {
  TimeRange time;                    // from the first that was asked or told to the last
  std::vector<std::string> parties;  // clients in the header's order, then nodes
  std::size_t clients = 0;           // so many of the parties
  std::vector<std::string> locks;    // by name
  std::vector<Hold> holds;           // by the time of acquired
  std::vector<Attempt> attempts;     // by the time of their end
  std::vector<Spell> spells;         // by the time of their begin
  std::vector<std::optional<std::size_t>> hold_of;  // for each event

  // Spells that last at the end of the history end with it.
  bool is_node(std::size_t party) const { return party >= clients; }
};

// When the history begins: an acquisition tells when it was asked for, which may be before all that
// was told. REQUIRES: some events.
Instant begin_of(const std::vector<Event>& events);

Story tell(const History& history);

}  // namespace redlock::drill
