// What comes of a drill: its histories in one file, judged, told, and drawn.
#pragma once

#include <redlock/result.h>

#include <string>
#include <vector>

namespace redlock::drill {

// In the folder: history.jsonl and timeline.html.
struct Verdict {
  bool is_clean = false;
  std::string text;  // for people, or JSON
};

// Makes sure of the folder, before the drill: it would be a pity to find out afterwards.
Status make_result_folder(const std::string& folder);

// The files as parse_history wants them.
Result<Verdict> judge(const std::vector<std::string>& files, const std::string& folder, bool json);

}  // namespace redlock::drill
