// The figures of a history: how many, how fast, how available, and what became of each hold.
#pragma once

#include "coordinator/drill/history/story.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redlock::drill {

struct Latency {
  std::size_t count = 0;
  Duration median{};
  Duration p99{};
  Duration max{};
};

// When a lock was wanted by somebody and believed in by nobody.
struct Availability {
  using Sum = std::chrono::duration<double, std::nano>;  // no number of locks can overflow it

  Sum wanted{};   // over all locks: wanted, or held
  Sum in_vain{};  // of that: wanted by clients that ran, and not held
  TimeRange longest;
  std::size_t longest_lock = 0;

  double share() const;  // 1: always available; 1 also where nobody wanted any
};

struct Losses {
  std::size_t in_time = 0;                           // told at or before the end of the validity
  std::optional<Duration> least_ahead = {};          // of those
  std::size_t by_paused = 0;                         // of clients that were stopped over the end
  std::optional<Duration> slowest_after_pause = {};  // from `continued` to `lost`
  std::size_t by_killed = 0;                         // nobody was left to tell
};

struct Writes {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  std::size_t late_accepted = 0;  // of the above: after the end of the writer's validity
  std::size_t late_refused = 0;
  std::size_t late_after_next = 0;  // of those accepted: another had acquired the lock by then
};

// Of those who told that they wait for a lock (lines.h).
struct Waits {
  std::size_t count = 0;
  std::size_t served = 0;
  Duration longest{0};        // of those
  std::size_t overtaken = 0;  // by so many at most that came later
  Duration longest_idle{0};   // that nobody had the lock meanwhile
};

// Of a group that changed while its clients worked. A change goes on from the start of whoever
// makes it (an event `started` of a client, with a text of the change) until it is done (`killed`,
// with "replaced", "added" or "removed").
struct GroupChanges {
  std::size_t replaced = 0;
  std::size_t added = 0;
  std::size_t removed = 0;
  std::size_t kills = 0;        // of those who made them, before they were done
  std::size_t undisturbed = 0;  // of the changes: nothing else befell a node, or had just before
  // The longest that a lock was wanted by somebody and had by nobody, begun or ended while a change
  // went on. Undisturbed: when nothing else befell a node in the last moments, nor a client that
  // had asked for that lock.
  Duration longest_gap{0};
  TimeRange longest_undisturbed = {};
  // The longest that a client that ran got nowhere, undisturbed: from its first attempt that failed
  // for another reason than a holder, to its next answer from a quorum. One that was started again
  // counts from its first such answer: the list that it was given may be wrong.
  TimeRange longest_without = {};

  std::size_t count() const { return replaced + added + removed; }
};

struct Summary {
  std::size_t events = 0;
  std::size_t acquired = 0;
  std::size_t fenced = 0;                           // of those, with a token
  std::size_t without_ttl = 0;                      // of those: rule Q2 cannot judge them
  std::map<std::string, std::size_t> refused = {};  // attempts that were, by why
  std::size_t unanswered = 0;                       // attempts: killed, or the end came first
  std::size_t extended = 0;
  std::size_t released = 0;
  Latency latency;  // of successful attempts whose client was not stopped meanwhile
  Availability availability;
  Losses losses;
  Writes writes;
  Waits waits;
  GroupChanges changes;
  std::array<std::size_t, kWhats> faults_of_nodes = {};    // by What
  std::array<std::size_t, kWhats> faults_of_clients = {};  // by What
  std::size_t pauses_over_an_end = 0;  // stops of clients that outlasted a validity
};

// When clients did not run: stopped, or killed and not started again.
class RunningTimes {
 public:
  explicit RunningTimes(const Story& story);

  // The last spell that meets the range, or nullptr if the client ran through all of it.
  const Spell* break_within(std::size_t client, TimeRange range) const;
  const std::vector<const Spell*>& breaks_of(std::size_t client) const { return breaks_[client]; }
  // How long of the range the client ran.
  Duration running_within(std::size_t client, TimeRange range) const;

 private:
  Duration broken_before(std::size_t client, Instant time) const;

  std::vector<std::vector<const Spell*>> breaks_;  // by client, by time, disjoint
  std::vector<std::vector<Duration>> sums_;        // by client: of the breaks before each one
};

// What became of a hold.
enum class Outcome {
  none,      // it was never believed in, or its validity outlasts the history
  released,  // within its validity
  noticed,   // lost, told within its validity
  paused,    // its client was stopped when the validity ended, or just before
  killed,    // its client was killed within the validity
  late,      // its client ran, and had not told by the end of the validity
};

Outcome outcome_of(const History& history, const Story& story, const RunningTimes& running,
                   const Hold& hold, Duration notice_time);

Summary summarize(const History& history, const Story& story, Duration notice_time);

Availability availability_of(const Story& story, const RunningTimes& running);

// A time in which a lock was wanted by clients that ran, and had by nobody.
struct Gap {
  TimeRange time;
  std::size_t lock = 0;
};
std::vector<Gap> gaps_of(const Story& story, const RunningTimes& running);

GroupChanges changes_of(const History& history, const Story& story, const RunningTimes& running);

// The longest TTL that a lock was asked for; 0: none was told.
Duration longest_ttl(const History& history);

// "1.2 ms", "340 µs", "12.35 s", "1 min", "2 min 5 s".
std::string precise_duration(Duration d);
// What a history calls "no_quorum", for people.
std::string spoken_name(std::string name);

}  // namespace redlock::drill
