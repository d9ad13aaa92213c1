// The checker: does a history keep what a lock promises? Pure, and O(n log n) in events.
//
// What counts as a finding:
//   overlap       two holds of one lock are believed in at one time
//   token_order   an acquisition that began after another of its lock had succeeded has no larger
//                 token
//   token_twice   two holds of one lock have one token
//   old_write     the store accepted a write although it had accepted one with a larger token of
//                 the same lock before
//   late_loss     a client that ran saw its validity end without having told of it by then
//
// A client that was stopped over the end of its validity is not late: it cannot notice. Nor does it
// hold any longer than the validity, as it asks its clock before it relies on the lock again; what
// it has under way by then is the fencing token's matter. So late writes are counted, refused ones
// and accepted ones, and only the order of tokens judges them.
#pragma once

#include "coordinator/drill/history/story.h"

#include <array>
#include <map>

namespace redlock::coordinator {

enum class FindingKind { overlap, token_order, token_twice, old_write, late_loss };
inline constexpr std::size_t kFindingKinds = 5;

struct Finding {
  FindingKind kind = FindingKind::overlap;
  TimeRange time;                   // overlap: how long; late_loss: the delay; else one instant
  std::size_t lock = 0;             // of the story
  std::vector<std::size_t> events;  // of the history, which show it; the earlier one first
  std::string text;                 // who, when and what, with the places in the file
};

struct CheckSettings {
  // A client that was stopped at any time in so long before the end of a validity had no chance to
  // tell of the loss in time. Ours tell a tenth of the TTL ahead.
  Duration notice_time = 100ms;
  // So many findings of a kind are listed; all are counted. An experiment without locks has as many
  // as there are pairs of holds.
  std::size_t listed_max = 1000;
};

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

struct Summary {
  std::size_t events = 0;
  std::size_t acquired = 0;
  std::size_t fenced = 0;                           // of those, with a token
  std::map<std::string, std::size_t> refused = {};  // attempts that were, by why
  std::size_t unanswered = 0;                       // attempts: killed, or the end came first
  std::size_t extended = 0;
  std::size_t released = 0;
  Latency latency;  // of successful attempts whose client was not stopped meanwhile
  Availability availability;
  Losses losses;
  Writes writes;
  std::array<std::size_t, kWhats> faults_of_nodes = {};    // by What
  std::array<std::size_t, kWhats> faults_of_clients = {};  // by What
  std::size_t pauses_over_an_end = 0;  // stops of clients that outlasted a validity
};

struct Report {
  std::vector<Finding> findings = {};                  // by time, at most listed_max of a kind
  std::array<std::size_t, kFindingKinds> counts = {};  // of all, by kind
  Summary summary;

  bool is_clean() const;
  std::size_t count() const;
};

std::string_view name_of(FindingKind kind);

// "12.345678 s", since the history began.
std::string clock_text(const Story& story, Instant time);

Report check(const History& history, const Story& story, const CheckSettings& settings = {});

}  // namespace redlock::coordinator
