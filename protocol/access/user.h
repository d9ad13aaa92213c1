// User: who may connect with which password, and what he may do.
//
//   User user("team-a", rights);
//   user.apply("on"); user.apply(">secret"); user.apply("~a:*"); user.apply("+@lock");
//   if (const Denial no = user.check(command, words)) …
//
// Rules beyond Redis's grammar, which has no word with a ':' at this place:
//
//   max-ttl:30s      no lock of his for longer; 0: the node's max-ttl alone
//   max-locks:100    no more locks at a time; 0: any number
//   eval-known       he runs the scripts that the node knows, and those that an operator loaded;
//                    eval-all: any
//
// Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/access/selector.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::protocol {

inline constexpr std::string_view kDefaultUser = "default";

struct UserLimits {
  Duration max_ttl{};           // 0: none of his own
  std::uint64_t max_locks = 0;  // 0: any number
  bool runs_known_scripts_only = false;

  friend bool operator==(const UserLimits&, const UserLimits&) = default;
};

class User {
 public:
  // Off, without a password and without a right, as Redis makes users. `rights` outlives it.
  User(std::string name, const CommandRights& rights);

  // As "default" is before anybody changes it: on, with no password and all rights.
  static User all_rights(std::string name, const CommandRights& rights);

  // On an error nothing has changed.
  RuleError apply(std::string_view rule);
  // All of them; nothing has changed when one is not taken.
  struct Refused {
    RuleError error = RuleError::none;
    std::string rule;

    explicit operator bool() const { return error != RuleError::none; }
  };
  Refused apply_all(std::span<const std::string> rules);

  const std::string& name() const { return name_; }
  bool is_on() const { return is_on_; }
  bool needs_no_password() const { return needs_no_password_; }
  const std::vector<std::string>& passwords() const { return passwords_; }  // hashes
  const UserLimits& limits() const { return limits_; }
  const Selector& selector() const { return selectors_.front(); }
  std::span<const Selector> more_selectors() const {
    return std::span<const Selector>(selectors_).subspan(1);
  }

  // Takes the same time for every password of a length.
  bool admits(std::string_view password) const;

  // May call everything with every key, without a limit: nobody has to look.
  bool has_all_rights() const;
  Denial check(CommandRights::Number command, Request words) const;
  bool may_call(CommandRights::Number command) const;
  // Whether he is shown that the key is there.
  bool may_see(std::string_view key) const { return may_use(key, kReadsKey); }
  bool sees_all_keys() const;
  bool may_hear(std::string_view channel, bool is_pattern = false) const;

  // "on #… ~a:* resetchannels +get": the rules that make such a user.
  std::string rules_text() const;
  // The first of it, word by word: on, nopass, limits.
  std::vector<std::string> flags() const;

 private:
  RuleError apply_to_user(std::string_view rule, bool& is_of_user);
  RuleError apply_password(std::string_view rule);
  RuleError add_selector(std::string_view rules);
  RuleError apply_limit(std::string_view rule);
  bool may_use(std::string_view key, std::uint8_t access) const;
  void reset();

  std::string name_;
  const CommandRights* rights_;
  bool is_on_ = false;
  bool needs_no_password_ = false;
  std::vector<std::string> passwords_;
  std::vector<Selector> selectors_;  // never empty: the first is his own
  UserLimits limits_;
};

// "user team-a on … +@lock", as Redis's files and configurations have users.
std::string user_line(const User& user);

// Rules with what stands between "(" and ")" as one word, also where the request has it as several.
// broken: the word whose bracket is not closed.
struct MergedRules {
  std::vector<std::string> rules;
  std::string broken;

  bool is_whole() const { return broken.empty(); }
};
MergedRules merge_selector_rules(std::span<const std::string_view> words);

}  // namespace redlock::protocol
