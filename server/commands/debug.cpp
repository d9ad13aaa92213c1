// DEBUG: of Redis's many subcommands the one that lock clients are tried with. Off unless
// enable-debug-command says otherwise, as it is a way to stop a node.
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

// A longer sleep is a slip of the fingers.
constexpr double kSleepSecondsMax = 3600;

bool is_allowed(const Call& call) {
  switch (call.node.settings().enable_debug_command) {
    case Settings::DebugCommand::no:
      return false;
    case Settings::DebugCommand::local:
      return call.session.peer().is_local;
    case Settings::DebugCommand::yes:
      break;
  }
  return true;
}

// As C reads a number, which Redis does: what is none is 0.
Duration read_seconds(std::string_view word) {
  const double seconds = std::strtod(std::string(word).c_str(), nullptr);
  if (!(seconds > 0)) return Duration::zero();  // also for what is not a number at all
  const std::chrono::duration<double> length(std::min(seconds, kSleepSecondsMax));
  return std::chrono::duration_cast<Duration>(length);
}

Reply help() {
  constexpr std::string_view kLines[] = {
      "DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", "SLEEP <seconds>",
      "    Stop the server for <seconds>. Decimals allowed.", "HELP", "    Prints this help."};
  Reply lines = Reply::array();
  for (const std::string_view line : kLines) lines.add(Reply::status_view(line));
  return lines;
}

Reply debug(Call& call) {
  if (!is_allowed(call)) {
    return Reply::error_view(
        "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", "
        "you can run it from a local connection, otherwise you need to set this option in the "
        "configuration file, and then restart the server.");
  }
  const std::string_view subcommand = call.word(1);
  if (equals_ignoring_case(subcommand, "HELP") && call.words.size() == 2) return help();
  if (equals_ignoring_case(subcommand, "SLEEP") && call.words.size() == 3) {
    call.node.sleep(read_seconds(call.word(2)));
    return Reply::ok();
  }
  return wrong_subcommand_use("debug", subcommand);
}

constexpr Command kDebugCommands[] = {
    {{"debug", -2, kAdmin | kNoScript | kLoading | kStale | kTimed, 0, 0, 0, "server", "1.0.0",
      "Makes the node stand still, where it is allowed.", "<SLEEP seconds|HELP>"},
     debug},
};

}  // namespace

Family debug_commands() {
  return kDebugCommands;
}

}  // namespace redlock::server
