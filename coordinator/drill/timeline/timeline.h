// The picture of a history: one HTML file that needs nothing else, no network and no other file,
// for a browser. The page is written by hand in timeline/; CMake puts it into the program, and here
// the history is put into the page.
#pragma once

#include "coordinator/drill/history/check.h"

#include <string>
#include <vector>

namespace redlock::drill {

// What a drill is there to show beyond what every history is judged by.
struct Shown {
  std::string text = {};                      // for people; empty: nothing
  std::vector<std::string> differences = {};  // from what should be
};

std::string timeline_html(const History& history, const Story& story, const Report& report,
                          const Shown& shown = {});

}  // namespace redlock::drill
