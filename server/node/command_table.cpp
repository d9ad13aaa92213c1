#include "server/node/command_table.h"

#include "base/invariant.h"

#include <array>

namespace redlock::server {
namespace {

constexpr std::size_t kNameBytesMax = 64;  // "container|subcommand"; no command's is longer

// A name in ASCII lower case, without an allocation.
class LowerName {
 public:
  // False when it does not fit: then it is no command's name.
  bool append(std::string_view text) {
    if (text.size() > name_.size() - size_) return false;
    for (const char c : text) {
      name_[size_++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return true;
  }
  std::string_view view() const { return {name_.data(), size_}; }

 private:
  std::array<char, kNameBytesMax> name_;
  std::size_t size_ = 0;
};

}  // namespace

CommandTable::CommandTable(Families families) {
  for (const Family family : families) {
    for (const Command& command : family) {
      const auto number = static_cast<protocol::CommandRights::Number>(entries_.size());
      entries_.push_back({&command, number});
      specs_.push_back(&command.spec);
      add_name(command.spec.name, entries_.back());
    }
  }
  for (const auto& [name, entry] : subcommands_) {
    command(name.substr(0, name.find('|')))->is_container = true;
  }
}

void CommandTable::add_name(std::string_view name, Entry& entry) {
  if (name.find('|') != std::string_view::npos) {
    subcommands_[name] = &entry;
    return;
  }
  INVARIANT(PackedName::fits(name) && entries_.size() < commands_.size(), "the index is too small");
  const PackedName packed(name);
  slot_of(packed) = {packed, &entry};
}

// Where the name stands, or where it would. By reference: a copy is read as one wide word of two
// narrow ones that were just written, for which the processor waits.
CommandTable::TableSlot& CommandTable::slot_of(const PackedName& name) {
  std::size_t at = name.hash() >> (64 - kSlotBits);
  while (commands_[at].entry != nullptr && commands_[at].name != name) {
    at = (at + 1) % commands_.size();
  }
  return commands_[at];
}

CommandTable::Entry* CommandTable::command(std::string_view name) {
  return PackedName::fits(name) ? slot_of(PackedName(name)).entry : nullptr;
}

CommandTable::Entry* CommandTable::subcommand(std::string_view container, std::string_view name) {
  LowerName whole;
  if (!whole.append(container) || !whole.append("|") || !whole.append(name)) return nullptr;
  const auto found = subcommands_.find(whole.view());
  return found == subcommands_.end() ? nullptr : found->second;
}

CommandTable::Found CommandTable::find(protocol::Request request) {
  Entry* entry = command(request[0]);
  if (entry == nullptr || !entry->is_container || request.size() == 1) return {entry, nullptr};
  return {subcommand(request[0], request[1]), entry};
}

void CommandTable::reset_stats() {
  for (Entry& entry : entries_) entry.stats = {};
}

}  // namespace redlock::server
