// A report as text: for people, a paragraph of figures and then the findings; for programs, one
// JSON object.
#pragma once

#include "coordinator/drill/check.h"

namespace redlock::coordinator {

std::string report_text(const History& history, const Story& story, const Report& report);
std::string report_json(const History& history, const Story& story, const Report& report);

// One line: "Nothing found: …", or how many findings of which kinds.
std::string verdict_text(const Report& report);

// Of the findings of one kind so many are printed.
inline constexpr std::size_t kFindingsPrinted = 20;

}  // namespace redlock::coordinator
