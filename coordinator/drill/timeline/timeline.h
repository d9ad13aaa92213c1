// The picture of a history: one HTML file that needs nothing else, no network and no other file,
// for a browser. The page is written by hand in timeline/; CMake puts it into the program, and here
// the history is put into the page.
#pragma once

#include "coordinator/drill/history/check.h"

namespace redlock::drill {

std::string timeline_html(const History& history, const Story& story, const Report& report);

}  // namespace redlock::drill
