// Selector: which commands a user may call, with which keys and channels. Redis's grammar:
//
//   +get -get +client|list +select|0     a command, a subcommand, a command with this first word
//   +@read -@admin +@all -@all           a category; allcommands, nocommands
//   ~a:* %R~b:* %W~c:* allkeys resetkeys           keys: any use, reading, writing
//   &news:* allchannels resetchannels              channels
//
// A user has one of its own, and more of them in brackets; a command goes if one lets it pass.
//
// Thread safety: none.
#pragma once

#include "protocol/access/command_rights.h"
#include "protocol/resp/request.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::protocol {

// Why a rule is not taken; none: it was.
enum class RuleError : std::uint8_t {
  none,
  syntax,
  unknown_command,      // or category
  useless_key_pattern,  // behind allkeys
  useless_channel,      // behind allchannels
  no_such_password,
  bad_password_hash,
  first_word_of_subcommand,
  bad_limit,
};
// Redis's words for it.
std::string_view rule_error_text(RuleError error);

// Why a request does not go. In the order in which the reasons weigh: with several selectors the
// heaviest is told.
struct Denial {
  enum class Reason : std::uint8_t { none, command, key, channel };

  Reason reason = Reason::none;
  std::size_t place = 0;  // of the key or channel among the words; 0: none of them

  explicit operator bool() const { return reason != Reason::none; }
};

class Selector {
 public:
  // Nothing is allowed. `rights` outlives it.
  explicit Selector(const CommandRights& rights);

  // On an error nothing has changed.
  RuleError apply(std::string_view rule);

  Denial check(CommandRights::Number command, Request words) const;
  bool may_use(std::string_view key, std::uint8_t access) const;
  bool may_hear(std::string_view channel, bool is_pattern) const;
  bool may_call(CommandRights::Number command) const { return allowed_[command]; }

  bool has_all_keys() const { return all_keys_; }
  bool has_all_channels() const { return all_channels_; }
  bool has_all_commands() const { return all_commands_; }
  const std::vector<std::string>& channels() const { return channels_; }

  // "~a:* %R~b", "resetchannels &c", "-@all +get": as the rules that make such a selector.
  std::string keys_text() const;
  std::string channels_text() const;
  std::string commands_text() const;
  // All of them, one by one.
  std::vector<std::string> rules() const;

 private:
  struct KeyPattern {
    std::string glob;
    std::uint8_t access;
  };

  std::vector<std::string> key_rules() const;
  std::vector<std::string> channel_rules() const;
  RuleError apply_key_pattern(std::string_view rule);
  RuleError apply_channel(std::string_view rule);
  RuleError apply_command(std::string_view rule);
  RuleError apply_category(std::string_view rule);
  RuleError allow_first_word(std::string_view command, std::string_view word);
  void set_all_commands(bool allowed);
  void set(CommandRights::Number command, bool allowed);
  // What a rule replaces is told no more.
  void note_rule(std::string_view name, bool allowed);
  bool allows_first_word(CommandRights::Number command, Request words) const;

  const CommandRights* rights_;
  std::vector<bool> allowed_;  // by number
  bool all_commands_ = false;
  bool later_commands_ = false;  // the rules begin with +@all
  bool all_keys_ = false;
  bool all_channels_ = false;
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
  std::map<CommandRights::Number, std::vector<std::string>> first_words_;
  std::vector<std::string> rules_;  // about commands, as they were given, in lower case
};

}  // namespace redlock::protocol
