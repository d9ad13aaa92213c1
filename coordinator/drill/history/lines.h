// Lines: those who wait for a lock, and whether each was served in its turn (rule Q7). A wait is an
// attempt that told `waits`; who came is ordered by that, and who got the lock without having to
// wait by `asks`.
//
// Nobody is promised to be the next: a call is a hint, and whoever tries at the right moment gets
// the lock (docs/safety.md). So what can be judged is *bounded bypass*: by how many that came later
// a waiter is overtaken, while it could have been served itself; and *starvation* by nobody at all:
// for how long it stands at a lock that nobody has. Neither counts while faults explain it:
//
// - While its client does not run, nor for the time to be back in line after that (kBackInLine):
//   who does not come when called is passed over.
// - While fewer than a quorum of the nodes are sound for it, nor for kBackInLine after that. One
//   that is killed, recovering, stopped or cut off from it is not sound. What the others are is no
//   excuse: with any minority of nodes gone, come back or hung, a quorum keeps its place in their
//   lines, and calls nobody who came later before it has had its time. A node that is slow is
//   sound: it is slow for everybody.
//
// Then each hand-over can pass a waiter over only by a coincidence: one who tries in the moment
// between the release and the attempt of who was called; a machine that lets the one who was called
// wait for longer than wake-next-after; a vote that is split with whom an unsound node calls, which
// lost the line's order. The next hand-over needs a coincidence of its own. So the number falls off
// geometrically whatever the line's length, and a line in another order, in which each hand-over
// passes the first one over, soon exceeds any such bound. Measured with 25 processes for each of
// two processors, over 3,100 waits: 11 % were passed over by one, 2 % by two, and each further
// place has a quarter as many, up to five (CheckSettings::overtaken_max).
#pragma once

#include "coordinator/drill/history/figures.h"
#include "coordinator/drill/history/story.h"

#include <cstddef>
#include <vector>

namespace redlock::drill {

// Broken links are dialled again after a second at most, a node that was not armed is asked again
// after one (lock_waits.h), and one that hung is heard again at once.
inline constexpr Duration kBackInLine = 1s;

// One wait in a line, with what nothing excuses.
struct Wait {
  std::size_t attempt = 0;              // of the story
  std::vector<std::size_t> later = {};  // who came later and was served before: holds
  TimeRange idle = {};                  // the longest that nobody had the lock, nor came to have it
};

// By the time of their end. `idle` is judged where all that a client may have left at nodes has run
// out: not within a TTL of a client that was interrupted in an attempt or a hold of that lock, nor
// of one that a node was unsound.
std::vector<Wait> waits_of(const History& history, const Story& story);

Waits sum_of(const std::vector<Wait>& waits, const Story& story);

}  // namespace redlock::drill
