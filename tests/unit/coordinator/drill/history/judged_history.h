// What the checker says of a history that is told as a transcript (told_history.h).
#pragma once

#include "coordinator/drill/history/check.h"
#include "tests/unit/coordinator/drill/history/told_history.h"

namespace redlock::drill {

inline Report judged(const std::string& transcript, double clock_drift = 0) {
  const History history = told_history(transcript, {.clock_drift = clock_drift});
  return check(history, tell(history));
}

// The kinds of all findings, by time.
inline std::vector<std::string> found(const std::string& transcript, double clock_drift = 0) {
  std::vector<std::string> kinds;
  for (const Finding& finding : judged(transcript, clock_drift).findings) {
    kinds.emplace_back(name_of(finding.kind));
  }
  return kinds;
}

using Kinds = std::vector<std::string>;

}  // namespace redlock::drill
