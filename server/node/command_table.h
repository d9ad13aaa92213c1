// CommandTable: all commands of a node by name, in any case, each with its counters.
#pragma once

#include "protocol/access/command_rights.h"
#include "protocol/resp/request.h"
#include "server/node/command.h"
#include "server/node/packed_name.h"
#include "server/observe/stats.h"

#include <array>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redlock::server {

class CommandTable {
 public:
  struct Entry {
    const Command* command;
    protocol::CommandRights::Number number = 0;  // its place in the table
    bool is_container = false;                   // has subcommands: "client" has "client|list"
    CommandStats stats{};
  };

  explicit CommandTable(Families families);
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // What the request names. A container with a second word is left for its subcommand: then
  // `container` is it, and `entry` the subcommand, or nullptr when there is no such. Both nullptr:
  // an unknown command.
  struct Found {
    Entry* entry = nullptr;
    Entry* container = nullptr;
  };
  Found find(protocol::Request request);

  std::span<const protocol::CommandSpec* const> specs() const { return specs_; }
  const std::deque<Entry>& entries() const { return entries_; }
  void reset_stats();

 private:
  // Open addressing with linear probing; fewer than half of the places are taken.
  static constexpr unsigned kSlotBits = 8;
  struct TableSlot {
    PackedName name{"-"};
    Entry* entry = nullptr;
  };

  TableSlot& slot_of(const PackedName& name);
  void add_name(std::string_view name, Entry& entry);
  Entry* command(std::string_view name);
  Entry* subcommand(std::string_view container, std::string_view name);

  std::deque<Entry> entries_;  // never moved: the indexes point into it
  std::array<TableSlot, std::size_t{1} << kSlotBits> commands_{};
  std::unordered_map<std::string_view, Entry*> subcommands_;  // "client|list"
  std::vector<const protocol::CommandSpec*> specs_;
};

}  // namespace redlock::server
