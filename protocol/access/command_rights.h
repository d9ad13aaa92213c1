// CommandRights: a table of commands as the rules of users see it: what a name means, which
// categories a command is in, which keys and channels a request names, and what is done with them.
//
//   const CommandRights rights(specs);
//   const auto number = rights.find("client|list");
//   rights.for_each_key(*number, request, [](std::size_t place, std::uint8_t access) { … });
//
// A command is known by its number, its place in the table. All of it is derived from the specs
// when it is made; the specs outlive it.
#pragma once

#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/request.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redlock::protocol {

// What is done with a key, and what a pattern allows. Bits. A command that asks neither, such as
// EXISTS in Redis, needs any pattern that matches.
inline constexpr std::uint8_t kReadsKey = 1;
inline constexpr std::uint8_t kWritesKey = 2;

// Where the keys of a request stand. last < first: it has none.
struct KeyPlaces {
  std::size_t first = 1;
  std::size_t last = 0;
  std::size_t step = 1;
};

class CommandRights {
 public:
  using Number = std::uint16_t;
  enum class Channels : std::uint8_t { none, first_word, all_words, patterns };

  CommandRights() = default;
  explicit CommandRights(CommandSpecs specs);

  std::size_t size() const { return commands_.size(); }
  const CommandSpec& spec(Number command) const { return *commands_[command].spec; }
  // By its whole name, in any case; a subcommand is "client|list".
  std::optional<Number> find(std::string_view name) const;
  bool is_subcommand(Number command) const { return commands_[command].is_subcommand; }
  std::span<const Number> subcommands(Number command) const { return commands_[command].inner; }

  // All categories, Redis's in Redis's order and then "lock" and "operator".
  static std::span<const std::string_view> categories();
  // In any case, without '@'.
  static std::optional<std::size_t> find_category(std::string_view name);
  bool is_in(Number command, std::size_t category) const {
    return (commands_[command].categories >> category & 1) != 0;
  }

  // What the keys of a request stand for, place by place.
  KeyPlaces key_places(Number command, Request words) const;
  std::uint8_t key_access(Number command, Request words) const;
  bool has_keys(Number command) const { return commands_[command].has_keys; }
  Channels channels(Number command) const { return commands_[command].channels; }
  // It tells of, or ends, locks whose keys it does not name: not for users of some keys.
  bool acts_on_all_keys(Number command) const { return commands_[command].acts_on_all_keys; }

 private:
  struct Command {
    const CommandSpec* spec;
    std::uint32_t categories = 0;
    std::vector<Number> inner = {};
    int key_count_at = 0;  // of the word that counts the keys; 0: they stand where the spec says
    std::uint8_t access = kReadsKey | kWritesKey;
    bool is_subcommand = false;
    bool has_keys = false;
    bool acts_on_all_keys = false;
    bool reads_only_with_get = false;  // SET: with GET it tells the value before
    Channels channels = Channels::none;
  };

  Command describe(CommandSpecs specs, const CommandSpec& spec) const;

  std::vector<Command> commands_;
  std::unordered_map<std::string_view, Number> by_name_;
};

}  // namespace redlock::protocol
