// What comes of a drill: its histories in one file, judged, told, and drawn.
#pragma once

#include "coordinator/drill/timeline/timeline.h"
#include <redlock/result.h>

#include <functional>
#include <string>
#include <vector>

namespace redlock::drill {

// In the folder: history.jsonl and timeline.html.
struct Verdict {
  bool is_clean = false;
  std::string text;  // for people, or JSON
  Shown shown;
};

// What a drill is there to show; empty: nothing of its own.
using Look = std::function<Shown(const History& history)>;

// Makes sure of the folder, before the drill: it would be a pity to find out afterwards.
Status make_result_folder(const std::string& folder);

// The files as parse_history wants them.
Result<Verdict> judge(const std::vector<std::string>& files, const std::string& folder, bool json,
                      const Look& look);

}  // namespace redlock::drill
