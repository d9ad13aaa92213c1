#include "coordinator/drill/runs/command_kind.h"

#include <algorithm>

namespace redlock::drill {

std::string_view name_of(CommandKind kind) {
  constexpr std::array<std::string_view, kCommandKinds.size()> kNames = {
      "plain", "deaf", "sessions", "forking", "daemon", "blocked"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::optional<CommandKind> command_kind_of(std::string_view name) {
  const auto* const found =
      std::find_if(kCommandKinds.begin(), kCommandKinds.end(),
                   [name](CommandKind kind) { return name_of(kind) == name; });
  if (found == kCommandKinds.end()) return std::nullopt;
  return *found;
}

}  // namespace redlock::drill
