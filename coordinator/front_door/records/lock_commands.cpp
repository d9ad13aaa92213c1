#include "coordinator/front_door/records/lock_commands.h"

#include <algorithm>

namespace redlock::coordinator {

using namespace protocol;  // flags

namespace {

// Each asks the nodes, and so has no place in a script or a transaction, which run on records.
constexpr std::uint32_t kAsksNodes = kNoScript | kNoMulti | kFast;

constexpr server::Command kCommands[] = {
    {{"lock.acquire", -5, kWrite | kDenyOom | kBlocking | kAsksNodes, 1, 1, 1, "lock", "1.0.0",
      "Takes a lock at a quorum of nodes; answers its fencing token.",
      "key value PX milliseconds [LABEL label] [WAIT wait-milliseconds]"},
     server::run_elsewhere},
    {{"lock.extend", 5, kWrite | kDenyOom | kAsksNodes, 1, 1, 1, "lock", "1.0.0",
      "Extends a lock that holds this value.", "key value PX milliseconds"},
     server::run_elsewhere},
    {{"lock.release", 3, kWrite | kAsksNodes, 1, 1, 1, "lock", "1.0.0",
      "Releases a lock that holds this value.", "key value"},
     server::run_elsewhere},
    {{"lock.holder", 2, kReadOnly | kAsksNodes, 1, 1, 1, "lock", "1.0.0",
      "Answers value, milliseconds left and token of a lock.", "key"},
     server::run_elsewhere},
    {{"lock.wait", -3, kReadOnly | kDenyOom | kBlocking | kAsksNodes, 1, 1, 1, "lock", "1.0.0",
      "Waits until a key is free: blocks, or has a message pushed.",
      "key timeout-ms [PUSH] [AT ticket]"},
     server::run_elsewhere},
    {{"lock.status", 1, kLoading | kStale | kAsksNodes, 0, 0, 0, "lock", "1.0.0",
      "Answers the state of the front door and its nodes.", ""},
     server::run_elsewhere},
};

}  // namespace

server::Family door_lock_commands() {
  return kCommands;
}

bool is_door_lock_command(std::string_view name) {
  return std::any_of(std::begin(kCommands), std::end(kCommands),
                     [&](const server::Command& command) { return command.spec.name == name; });
}

}  // namespace redlock::coordinator
