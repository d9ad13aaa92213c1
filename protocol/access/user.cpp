#include "protocol/access/user.h"

#include "base/text/duration_text.h"
#include "base/text/number.h"
#include "base/text/quoted_words.h"
#include "base/text/same_secret.h"
#include "base/text/words.h"
#include "protocol/access/password_hash.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::protocol {
namespace {

constexpr std::string_view kMaxTtl = "max-ttl:";
constexpr std::string_view kMaxLocks = "max-locks:";

// Most words stand in a line as they are, and so do brackets, in which there are blanks.
std::string in_line(std::string_view word, char least = '!') {
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [least](char c) {
    return c >= least && c <= '~' && c != '"' && c != '\'';
  });
  return is_plain ? std::string(word) : quoted_word(word);
}

bool starts_with_word(std::string_view rule, std::string_view word) {
  return equals_ignoring_case(rule.substr(0, word.size()), word);
}

}  // namespace

User::User(std::string name, const CommandRights& rights)
    : name_(std::move(name)), rights_(&rights), selectors_{Selector(rights)} {}

User User::all_rights(std::string name, const CommandRights& rights) {
  User user(std::move(name), rights);
  for (const std::string_view rule : {"on", "nopass", "~*", "&*", "+@all"}) {
    static_cast<void>(user.apply(rule));
  }
  return user;
}

RuleError User::apply(std::string_view rule) {
  if (rule.empty()) return RuleError::none;
  bool is_of_user = true;
  const RuleError error = apply_to_user(rule, is_of_user);
  return is_of_user ? error : selectors_.front().apply(rule);
}

// is_of_user: false: the rule is one of his own selector.
RuleError User::apply_to_user(std::string_view rule, bool& is_of_user) {
  const auto is = [&](std::string_view word) { return equals_ignoring_case(rule, word); };
  if (is("on") || is("off")) {
    is_on_ = is("on");
  } else if (is("nopass")) {
    needs_no_password_ = true;
    passwords_.clear();
  } else if (is("resetpass")) {
    needs_no_password_ = false;
    passwords_.clear();
  } else if (is("reset")) {
    reset();
  } else if (is("sanitize-payload") || is("skip-sanitize-payload")) {
    // about RESTORE, which a lock node does not have
  } else if (is("clearselectors")) {
    selectors_.erase(selectors_.begin() + 1, selectors_.end());
  } else if (is("eval-known") || is("eval-all")) {
    limits_.runs_known_scripts_only = is("eval-known");
  } else if (starts_with_word(rule, kMaxTtl) || starts_with_word(rule, kMaxLocks)) {
    return apply_limit(rule);
  } else if (rule.starts_with('>') || rule.starts_with('<') || rule.starts_with('#') ||
             rule.starts_with('!')) {
    return apply_password(rule);
  } else if (rule.starts_with('(') && rule.ends_with(')')) {
    return add_selector(rule.substr(1, rule.size() - 2));
  } else {
    is_of_user = false;
  }
  return RuleError::none;
}

// ">password" "<password", and "#hash" "!hash".
RuleError User::apply_password(std::string_view rule) {
  const bool is_plain = rule.starts_with('>') || rule.starts_with('<');
  const bool is_added = rule.starts_with('>') || rule.starts_with('#');
  const std::string_view word = rule.substr(1);
  if (!is_plain && !is_password_hash(word)) return RuleError::bad_password_hash;
  std::string hash = is_plain ? password_hash(word) : std::string(word);
  const auto known = std::find(passwords_.begin(), passwords_.end(), hash);
  if (!is_added) {
    if (known == passwords_.end()) return RuleError::no_such_password;
    passwords_.erase(known);
    return RuleError::none;
  }
  if (known == passwords_.end()) passwords_.push_back(std::move(hash));
  needs_no_password_ = false;
  return RuleError::none;
}

RuleError User::add_selector(std::string_view rules) {
  Selector selector(*rights_);
  while (!rules.empty()) {
    const std::size_t end = std::min(rules.find_first_of(kWordBlanks), rules.size());
    const std::string_view rule = rules.substr(0, end);
    rules.remove_prefix(std::min(end + 1, rules.size()));
    if (rule.empty()) continue;
    const RuleError error = selector.apply(rule);
    if (error != RuleError::none) return error;
  }
  selectors_.push_back(std::move(selector));
  return RuleError::none;
}

RuleError User::apply_limit(std::string_view rule) {
  const std::string_view value = rule.substr(rule.find(':') + 1);
  if (starts_with_word(rule, kMaxLocks)) {
    const auto count = parse_int64(value);
    if (!count || *count < 0) return RuleError::bad_limit;
    limits_.max_locks = static_cast<std::uint64_t>(*count);
    return RuleError::none;
  }
  const auto length = value == "0" ? Result<Duration>(Duration{}) : parse_duration(value);
  if (!length || (length.value() < 1ms && length.value() != 0ns)) return RuleError::bad_limit;
  limits_.max_ttl = std::chrono::floor<std::chrono::milliseconds>(length.value());
  return RuleError::none;
}

void User::reset() {
  User fresh(std::move(name_), *rights_);
  *this = std::move(fresh);
}

User::Refused User::apply_all(std::span<const std::string> rules) {
  User changed = *this;
  for (const std::string& rule : rules) {
    const RuleError error = changed.apply(rule);
    if (error != RuleError::none) return {error, rule};
  }
  *this = std::move(changed);
  return {};
}

bool User::admits(std::string_view password) const {
  if (!is_on_) return false;
  if (needs_no_password_) return true;
  const std::string hash = password_hash(password);
  bool is_right = false;
  for (const std::string& known : passwords_) {
    const bool is_this = is_same_secret(hash, known);
    is_right = is_right || is_this;
  }
  return is_right;
}

bool User::has_all_rights() const {
  const Selector& own = selector();
  return own.has_all_commands() && own.has_all_keys() && own.has_all_channels() &&
         limits_ == UserLimits{};
}

Denial User::check(CommandRights::Number command, Request words) const {
  Denial heaviest{Denial::Reason::command, 0};
  for (const Selector& selector : selectors_) {
    const Denial denial = selector.check(command, words);
    if (!denial) return {};
    const bool is_further = denial.reason == heaviest.reason && denial.place > heaviest.place;
    if (denial.reason > heaviest.reason || is_further) heaviest = denial;
  }
  return heaviest;
}

bool User::may_call(CommandRights::Number command) const {
  return std::any_of(selectors_.begin(), selectors_.end(),
                     [&](const Selector& selector) { return selector.may_call(command); });
}

bool User::may_use(std::string_view key, std::uint8_t access) const {
  return std::any_of(selectors_.begin(), selectors_.end(),
                     [&](const Selector& selector) { return selector.may_use(key, access); });
}

bool User::sees_all_keys() const {
  return std::any_of(selectors_.begin(), selectors_.end(),
                     [](const Selector& selector) { return selector.has_all_keys(); });
}

bool User::may_hear(std::string_view channel, bool is_pattern) const {
  return std::any_of(selectors_.begin(), selectors_.end(), [&](const Selector& selector) {
    return selector.may_hear(channel, is_pattern);
  });
}

std::vector<std::string> User::flags() const {
  std::vector<std::string> flags = {is_on_ ? "on" : "off"};
  if (needs_no_password_) flags.emplace_back("nopass");
  if (limits_.max_ttl > 0ns) {
    flags.push_back(fmt::format("{}{}", kMaxTtl, duration_text(limits_.max_ttl)));
  }
  if (limits_.max_locks > 0) flags.push_back(fmt::format("{}{}", kMaxLocks, limits_.max_locks));
  if (limits_.runs_known_scripts_only) flags.emplace_back("eval-known");
  return flags;
}

std::string User::rules_text() const {
  std::vector<std::string> words = flags();
  for (const std::string& hash : passwords_) words.push_back("#" + hash);
  for (const std::string& rule : selector().rules()) words.push_back(in_line(rule));
  for (const Selector& more : more_selectors()) {
    words.push_back(in_line(fmt::format("({})", fmt::join(more.rules(), " ")), ' '));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string user_line(const User& user) {
  return fmt::format("user {} {}", in_line(user.name()), user.rules_text());
}

MergedRules merge_selector_rules(std::span<const std::string_view> words) {
  MergedRules merged;
  std::string open;
  std::string_view begin;
  bool is_open = false;
  for (const std::string_view word : words) {
    if (is_open) {
      open += ' ';
      open += word;
    } else if (word.starts_with('(') && !word.ends_with(')')) {
      open = begin = word;
      is_open = true;
    } else {
      merged.rules.emplace_back(word);
    }
    if (is_open && word.ends_with(')')) {
      merged.rules.push_back(std::move(open));
      is_open = false;
    }
  }
  if (is_open) merged.broken = begin;
  return merged;
}

}  // namespace redlock::protocol
