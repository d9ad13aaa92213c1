// The figures of a history: how many, how fast, how available, and what became of each hold.
#pragma once

#include "coordinator/drill/history/check.h"

namespace redlock::coordinator {

// When clients did not run: stopped, or killed and not started again.
class RunningTimes {
 public:
  explicit RunningTimes(const Story& story);

  // The last spell that meets the range, or nullptr if the client ran through all of it.
  const Spell* break_within(std::size_t client, TimeRange range) const;
  const std::vector<const Spell*>& breaks_of(std::size_t client) const { return breaks_[client]; }

 private:
  std::vector<std::vector<const Spell*>> breaks_;  // by client, by time, disjoint
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

// "1.2 ms", "340 µs", "12.35 s".
std::string precise_duration(Duration d);

}  // namespace redlock::coordinator
