#include "server/command_table.h"

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

CommandTable::CommandTable() {
  for (const auto family :
       {connection_commands(), lock_commands(), string_commands(), counter_commands(),
        key_commands(), keyspace_commands(), hash_commands(), object_commands(), quorum_commands(),
        wait_commands(), script_commands(), pubsub_commands(), admin_commands(), debug_commands(),
        cluster_commands(), transaction_commands(), observing_commands()}) {
    for (const Command& command : family) {
      entries_.push_back({&command});
      specs_.push_back(&command.spec);
      by_name_[command.spec.name] = &entries_.back();
    }
  }
  for (const Entry& entry : entries_) {
    const std::string_view name = entry.command->spec.name;
    const std::size_t bar = name.find('|');
    if (bar != std::string_view::npos) by_name_.at(name.substr(0, bar))->is_container = true;
  }
}

CommandTable::Entry* CommandTable::by_name(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

CommandTable::Found CommandTable::find(protocol::Request request) {
  if (request[0].find('|') != std::string_view::npos) return {};
  LowerName name;
  Entry* entry = name.append(request[0]) ? by_name(name.view()) : nullptr;
  if (entry == nullptr || !entry->is_container || request.size() == 1) return {entry, nullptr};
  const bool fits = name.append("|") && name.append(request[1]);
  return {fits ? by_name(name.view()) : nullptr, entry};
}

void CommandTable::reset_stats() {
  for (Entry& entry : entries_) entry.stats = {};
}

}  // namespace redlock::server
