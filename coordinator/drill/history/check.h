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
//   revived       a hold was extended after its validity had ended (rule Q4)
//   long_validity a validity is longer than the TTL allows (rule Q2)
//   starved       a waiter was overtaken by more than faults explain, stood at a lock that nobody
//                 had, or was sent away before its time (rule Q7; lines.h)
//
// A client that was stopped over the end of its validity is not late: it cannot notice. Nor does it
// hold any longer than the validity, as it asks its clock before it relies on the lock again; what
// it has under way by then is the fencing token's matter. So late writes are counted, refused ones
// and accepted ones, and only the order of tokens judges them.
#pragma once

#include "coordinator/drill/history/figures.h"
#include "coordinator/drill/history/lines.h"
#include "coordinator/drill/history/story.h"

#include <array>

namespace redlock::drill {

enum class FindingKind {
  overlap,
  token_order,
  token_twice,
  old_write,
  late_loss,
  revived,
  long_validity,
  starved,
};
inline constexpr std::size_t kFindingKinds = 8;

struct Finding {
  FindingKind kind = FindingKind::overlap;
  // overlap: how long; late_loss, revived: from the validity's end; else one instant.
  TimeRange time;
  std::size_t lock = 0;             // of the story
  std::vector<std::size_t> events;  // of the history, which show it; the earlier one first
  std::string text;                 // who, when and what, with the places in the file
};

struct CheckSettings {
  // A client that was stopped at any time in so long before the end of a validity had no chance to
  // tell of the loss in time. Ours tell a tenth of the TTL ahead.
  Duration notice_time = 100ms;
  // A client that runs for so long after a validity and only then tells of an extension did not
  // have it in time. Rule Q4 leaves nothing to tolerate: history and holder count by one clock, and
  // what is late is late by a nanosecond. But the history has the extension's telling, not its
  // deciding reply, and the way from one to the other takes the time that the client is given.
  Duration telling_time = 100ms;
  // By so many that came later a waiter may be overtaken where no fault explains it (lines.h).
  std::size_t overtaken_max = 16;
  // For so long it may stand at a lock that nobody has. Each call that is in vain costs
  // wake-next-after (10 ms), a split vote a random time, an attempt that a node does not answer the
  // node timeout (500 ms).
  Duration idle_max = 1s;
  // So many findings of a kind are listed; all are counted. An experiment without locks has as many
  // as there are pairs of holds.
  std::size_t listed_max = 1000;
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

}  // namespace redlock::drill
