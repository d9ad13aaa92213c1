#include "protocol/access/selector.h"

#include "base/text/words.h"
#include "protocol/catalogue/glob.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::protocol {
namespace {

bool has_blank(std::string_view text) {
  return text.find_first_of(kWordBlanks) != std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// "%RW~key": the letters, and how many bytes they take with the '~'. 0: none that mean anything.
std::pair<std::uint8_t, std::size_t> read_access(std::string_view rule) {
  std::uint8_t access = 0;
  for (std::size_t at = 1; at < rule.size(); ++at) {
    const char letter = rule[at];
    const bool is_read = letter == 'R' || letter == 'r';
    const bool is_write = letter == 'W' || letter == 'w';
    const std::uint8_t bit = is_read ? kReadsKey : is_write ? kWritesKey : 0;
    if (letter == '~') return {access, at + 1};
    if (bit == 0 || (access & bit) != 0) return {0, 0};
    access |= bit;
  }
  return {access, rule.size()};
}

}  // namespace

std::string_view rule_error_text(RuleError error) {
  switch (error) {
    case RuleError::none:
      break;
    case RuleError::syntax:
      return "Syntax error";
    case RuleError::unknown_command:
      return "Unknown command or category name in ACL";
    case RuleError::useless_key_pattern:
      return "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does "
             "not have any effect. Try 'resetkeys' to start with an empty list of patterns";
    case RuleError::useless_channel:
      return "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and "
             "does not have any effect. Try 'resetchannels' to start with an empty list of "
             "channels";
    case RuleError::no_such_password:
      return "The password you are trying to remove from the user does not exist";
    case RuleError::bad_password_hash:
      return "The password hash must be exactly 64 characters and contain only lowercase "
             "hexadecimal characters";
    case RuleError::first_word_of_subcommand:
      return "Allowing first-arg of a subcommand is not supported";
    case RuleError::bad_limit:
      return "A limit is max-ttl:DURATION, such as max-ttl:30s, or max-locks:NUMBER; 0 takes it "
             "away";
  }
  return "";
}

Selector::Selector(const CommandRights& rights) : rights_(&rights), allowed_(rights.size()) {}

RuleError Selector::apply(std::string_view rule) {
  const auto is = [&](std::string_view word) { return equals_ignoring_case(rule, word); };
  if (is("allkeys") || rule == "~*") {
    all_keys_ = true;
    keys_.clear();
  } else if (is("resetkeys")) {
    all_keys_ = false;
    keys_.clear();
  } else if (is("allchannels") || rule == "&*") {
    all_channels_ = true;
    channels_.clear();
  } else if (is("resetchannels")) {
    all_channels_ = false;
    channels_.clear();
  } else if (is("allcommands") || is("+@all")) {
    set_all_commands(true);
  } else if (is("nocommands") || is("-@all")) {
    set_all_commands(false);
  } else if (rule.starts_with('~') || rule.starts_with('%')) {
    return apply_key_pattern(rule);
  } else if (rule.starts_with('&')) {
    return apply_channel(rule);
  } else if (rule.starts_with("+@") || rule.starts_with("-@")) {
    return apply_category(rule);
  } else if (rule.starts_with('+') || rule.starts_with('-')) {
    return apply_command(rule);
  } else {
    return RuleError::syntax;
  }
  return RuleError::none;
}

RuleError Selector::apply_key_pattern(std::string_view rule) {
  if (all_keys_) return RuleError::useless_key_pattern;
  std::pair<std::uint8_t, std::size_t> access = {kReadsKey | kWritesKey, 1};
  if (rule.starts_with('%')) access = read_access(rule);
  if (access.first == 0) return RuleError::syntax;
  const std::string_view glob = rule.substr(access.second);
  if (has_blank(glob)) return RuleError::syntax;
  for (KeyPattern& pattern : keys_) {
    if (pattern.glob != glob) continue;
    pattern.access |= access.first;
    return RuleError::none;
  }
  keys_.push_back({std::string(glob), access.first});
  return RuleError::none;
}

RuleError Selector::apply_channel(std::string_view rule) {
  if (all_channels_) return RuleError::useless_channel;
  const std::string_view glob = rule.substr(1);
  if (has_blank(glob)) return RuleError::syntax;
  const bool is_known = std::find(channels_.begin(), channels_.end(), glob) != channels_.end();
  if (!is_known) channels_.emplace_back(glob);
  return RuleError::none;
}

// "+get", "-client|list", "+select|0"
RuleError Selector::apply_command(std::string_view rule) {
  const bool is_allowed = rule.starts_with('+');
  const std::string_view name = rule.substr(1);
  const auto command = rights_->find(name);
  const std::size_t bar = name.rfind('|');
  if (!command && is_allowed && bar != std::string_view::npos) {
    return allow_first_word(name.substr(0, bar), name.substr(bar + 1));
  }
  if (!command) return RuleError::unknown_command;
  set(*command, is_allowed);
  for (const CommandRights::Number inner : rights_->subcommands(*command)) set(inner, is_allowed);
  note_rule(name, is_allowed);
  return RuleError::none;
}

RuleError Selector::allow_first_word(std::string_view name, std::string_view word) {
  const auto command = rights_->find(name);
  if (!command) return RuleError::unknown_command;
  if (rights_->is_subcommand(*command)) return RuleError::first_word_of_subcommand;
  if (word.empty()) return RuleError::syntax;
  if (!rights_->subcommands(*command).empty()) return RuleError::unknown_command;
  std::vector<std::string>& words = first_words_[*command];
  const bool is_known = std::any_of(words.begin(), words.end(), [&](const std::string& known) {
    return equals_ignoring_case(known, word);
  });
  if (!is_known) words.push_back(lower_case(word));
  note_rule(fmt::format("{}|{}", name, word), true);
  return RuleError::none;
}

RuleError Selector::apply_category(std::string_view rule) {
  const bool is_allowed = rule.starts_with('+');
  const auto category = CommandRights::find_category(rule.substr(2));
  if (!category) return RuleError::unknown_command;
  for (std::size_t i = 0; i < allowed_.size(); ++i) {
    const auto command = static_cast<CommandRights::Number>(i);
    if (rights_->is_in(command, *category)) set(command, is_allowed);
  }
  note_rule(rule.substr(1), is_allowed);
  return RuleError::none;
}

void Selector::set_all_commands(bool allowed) {
  std::fill(allowed_.begin(), allowed_.end(), allowed);
  all_commands_ = allowed;
  later_commands_ = allowed;
  first_words_.clear();
  rules_.clear();
}

void Selector::set(CommandRights::Number command, bool allowed) {
  allowed_[command] = allowed;
  if (!allowed) all_commands_ = false;
  first_words_.erase(command);
}

void Selector::note_rule(std::string_view name, bool allowed) {
  const std::string lower = lower_case(name);
  std::erase_if(rules_, [&](const std::string& rule) {
    const std::string_view about = std::string_view(rule).substr(1);
    return about == lower || (about.starts_with(lower) && about[lower.size()] == '|');
  });
  rules_.push_back((allowed ? '+' : '-') + lower);
}

bool Selector::allows_first_word(CommandRights::Number command, Request words) const {
  const auto found = first_words_.find(command);
  if (found == first_words_.end() || words.size() < 2) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& word) { return equals_ignoring_case(word, words[1]); });
}

Denial Selector::check(CommandRights::Number command, Request words) const {
  using Reason = Denial::Reason;
  const bool is_allowed =
      allowed_[command] || rights_->spec(command).has(kNoAuth) || allows_first_word(command, words);
  if (!is_allowed) return {Reason::command, 0};
  if (!all_keys_) {
    if (rights_->acts_on_all_keys(command)) return {Reason::key, 0};
    const KeyPlaces places = rights_->key_places(command, words);
    const std::uint8_t access = rights_->key_access(command, words);
    for (std::size_t at = places.first; at <= places.last; at += places.step) {
      if (!may_use(words[at], access)) return {Reason::key, at};
    }
  }
  const auto channels = rights_->channels(command);
  if (all_channels_ || channels == CommandRights::Channels::none) return {};
  const bool is_one = channels == CommandRights::Channels::first_word;
  const std::size_t end = is_one ? std::min<std::size_t>(2, words.size()) : words.size();
  for (std::size_t at = 1; at < end; ++at) {
    const bool is_pattern = channels == CommandRights::Channels::patterns;
    if (!may_hear(words[at], is_pattern)) return {Reason::channel, at};
  }
  return {};
}

bool Selector::may_use(std::string_view key, std::uint8_t access) const {
  if (all_keys_) return true;
  return std::any_of(keys_.begin(), keys_.end(), [&](const KeyPattern& pattern) {
    return (pattern.access & access) == access && glob_matches(pattern.glob, key);
  });
}

// A pattern is allowed to the letter alone: what it matches beyond cannot be told.
bool Selector::may_hear(std::string_view channel, bool is_pattern) const {
  if (all_channels_) return true;
  return std::any_of(channels_.begin(), channels_.end(), [&](const std::string& allowed) {
    return is_pattern ? allowed == channel : glob_matches(allowed, channel);
  });
}

std::vector<std::string> Selector::key_rules() const {
  if (all_keys_) return {"~*"};
  std::vector<std::string> rules;
  for (const KeyPattern& pattern : keys_) {
    const char* const access = pattern.access == kReadsKey    ? "%R"
                               : pattern.access == kWritesKey ? "%W"
                                                              : "";
    rules.push_back(fmt::format("{}~{}", access, pattern.glob));
  }
  return rules;
}

std::vector<std::string> Selector::channel_rules() const {
  if (all_channels_) return {"&*"};
  std::vector<std::string> rules;
  for (const std::string& channel : channels_) rules.push_back("&" + channel);
  return rules;
}

std::string Selector::keys_text() const {
  return fmt::format("{}", fmt::join(key_rules(), " "));
}

std::string Selector::channels_text() const {
  return fmt::format("{}", fmt::join(channel_rules(), " "));
}

std::string Selector::commands_text() const {
  std::string text = later_commands_ ? "+@all" : "-@all";
  for (const std::string& rule : rules_) text += " " + rule;
  return text;
}

std::vector<std::string> Selector::rules() const {
  std::vector<std::string> all = key_rules();
  if (!all_channels_) all.emplace_back("resetchannels");
  for (std::string& rule : channel_rules()) all.push_back(std::move(rule));
  all.emplace_back(later_commands_ ? "+@all" : "-@all");
  all.insert(all.end(), rules_.begin(), rules_.end());
  return all;
}

}  // namespace redlock::protocol
