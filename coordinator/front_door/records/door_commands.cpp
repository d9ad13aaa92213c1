#include "coordinator/front_door/records/door_commands.h"

#include "base/invariant.h"
#include "coordinator/front_door/records/lock_commands.h"
#include "server/commands/families.h"
#include "server/node/node.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

using protocol::CommandSpec;
using protocol::Reply;
using server::Call;
using server::Command;
using server::Families;
using server::Family;

namespace {

// Whose work a command is.
enum class Place : std::uint8_t {
  session,  // the sessions' node's
  scratch,  // runs on records
  door,     // the front door's itself
  message,  // the front door's, and of a run held back until its changes are made
  refused_list,
  refused,
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_keyspace(std::string_view name) {
  return is_one_of(name, {"dbsize", "keys", "scan", "randomkey", "flushall", "flushdb"});
}

Place place_of(const CommandSpec& spec) {
  const std::string_view name = spec.name;
  if (is_keyspace(name)) return Place::refused_list;
  if (is_one_of(name, {"publish", "spublish"})) return Place::message;
  if (spec.group == "lock") return Place::refused;
  if (is_one_of(name, {"exec", "watch", "unwatch", "discard", "reset", "info", "config|set",
                       "config|resetstat"})) {
    return Place::door;
  }
  if (is_one_of(name, {"script|kill", "script|debug", "script|help", "object|help", "memory|help",
                       "wait"})) {
    return Place::session;
  }
  const bool is_of_keys = is_one_of(spec.group, {"string", "generic", "hash", "scripting"});
  return is_of_keys || name == "memory|usage" ? Place::scratch : Place::session;
}

Reply refuse_list(Call&) {
  return Reply::error_view(
      "ERR not served by a front door, which has no list of locks: ask a node");
}

Reply refuse(Call&) {
  return Reply::error_view("ERR not served by a front door: ask a node");
}

using Function = Reply (*)(Call&);

// nullptr: the node's own.
Function function_at(Place place, bool is_scratch) {
  switch (place) {
    case Place::session:
      return nullptr;
    case Place::scratch:
      return is_scratch ? nullptr : server::run_elsewhere;
    case Place::door:
      return is_scratch ? nullptr : server::run_elsewhere;
    case Place::message:
      return server::run_elsewhere;
    case Place::refused_list:
      return refuse_list;
    case Place::refused:
      return refuse;
  }
  INVARIANT(false, "a place that is none");
}

// The node's commands with other functions. A door's own LOCK.* come in place of a node's of the
// same names.
class DoorFamilies {
 public:
  explicit DoorFamilies(bool is_scratch) {
    for (const Family family : server::all_families()) {
      for (const Command& command : family) add(command, is_scratch);
    }
    families_ = {Family(commands_), door_lock_commands()};
  }
  Families families() const { return families_; }

 private:
  void add(Command command, bool is_scratch) {
    if (is_door_lock_command(command.spec.name)) return;
    const Function function = function_at(place_of(command.spec), is_scratch);
    if (function != nullptr && command.run != nullptr) command.run = function;
    commands_.push_back(command);
  }

  std::vector<Command> commands_;
  std::array<Family, 2> families_;
};

}  // namespace

Families session_families() {
  static const DoorFamilies families(false);
  return families.families();
}

Families scratch_families() {
  static const DoorFamilies families(true);
  return families.families();
}

const Command& node_command(std::string_view name) {
  for (const Family family : server::all_families()) {
    for (const Command& command : family) {
      if (command.spec.name == name) return command;
    }
  }
  INVARIANT(false, "a command that no node has");
}

bool is_sessions_own(server::CommandTable& commands, protocol::Request request) {
  const server::CommandTable::Entry* entry = commands.find(request).entry;
  INVARIANT(entry != nullptr, "a command that is unknown");
  return place_of(entry->command->spec) == Place::session ||
         place_of(entry->command->spec) == Place::door;
}

}  // namespace redlock::coordinator
