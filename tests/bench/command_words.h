// Several commands on one command line: SET {key} a THEN GET {key}.
#pragma once

#include <string>
#include <vector>

namespace redlock::bench {

// None if one of them is empty.
inline std::vector<std::vector<std::string>> split_commands(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> commands(1);
  for (const std::string& word : words) {
    if (word == "THEN") {
      commands.emplace_back();
    } else {
      commands.back().push_back(word);
    }
  }
  for (const auto& command : commands) {
    if (command.empty()) return {};
  }
  return commands;
}

}  // namespace redlock::bench
