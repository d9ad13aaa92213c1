// A report as text: for people, a paragraph of figures and then the findings; for programs, one
// JSON object.
#pragma once

#include "coordinator/drill/history/check.h"

namespace redlock::drill {

// One line of the figures: "acquired", "10412 of 11020 attempts", "half within 1.2 ms, …".
struct Figure {
  std::string name;
  std::string value;
  std::string note;
};
std::vector<Figure> figures_of(const History& history, const Story& story, const Report& report);

std::string report_text(const History& history, const Story& story, const Report& report);
std::string report_json(const History& history, const Story& story, const Report& report);

// "10 min 3 s, 8 clients, 5 nodes, 3 locks".
std::string scale_text(const Story& story);

// One line: "Nothing found: …", or how many findings of which kinds.
std::string verdict_text(const Report& report);

// Of the findings of one kind so many are printed.
inline constexpr std::size_t kFindingsPrinted = 20;

}  // namespace redlock::drill
