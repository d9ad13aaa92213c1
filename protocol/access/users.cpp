#include "protocol/access/users.h"

#include "base/invariant.h"
#include "base/text/quoted_words.h"
#include "base/text/words.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::protocol {

bool is_user_name(std::string_view name) {
  return name.find_first_of(kWordBlanks) == std::string_view::npos;
}

Users::Users(const CommandRights& rights) : rights_(&rights) {
  default_ = put(User::all_rights(std::string(kDefaultUser), rights));
}

Users::Shared Users::find(std::string_view name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : found->second;
}

User Users::copy_of(std::string_view name) const {
  const Shared known = find(name);
  return known != nullptr ? *known : User(std::string(name), *rights_);
}

const Users::Shared& Users::put(User user) {
  Shared& place = users_[user.name()];
  if (place == nullptr) {
    place = std::make_shared<User>(std::move(user));
  } else {
    *place = std::move(user);
  }
  return place;
}

Users::Shared Users::remove(std::string_view name) {
  INVARIANT(name != kDefaultUser, "the default user cannot be removed");
  const auto found = users_.find(name);
  if (found == users_.end()) return nullptr;
  Shared removed = std::move(found->second);
  users_.erase(found);
  return removed;
}

void Users::set_default_password(std::string_view password) {
  static_cast<void>(default_->apply("resetpass"));
  const std::string rule = password.empty() ? "nopass" : fmt::format(">{}", password);
  static_cast<void>(default_->apply(rule));
}

Status Users::read_line(std::string_view line, std::vector<User>& users) const {
  const auto words = split_quoted_words(line);
  if (!words) return Failure{"unbalanced quotes in acl line"};
  if (words->size() < 2 || (*words)[0] != "user") {
    return Failure{"line should start with user keyword followed by the username"};
  }
  const std::string& name = (*words)[1];
  if (!is_user_name(name)) return Failure{fmt::format("username '{}' contains blanks", name)};
  const bool is_known = std::any_of(users.begin(), users.end(),
                                    [&](const User& user) { return user.name() == name; });
  if (is_known) {
    return Failure{fmt::format(
        "Duplicate user '{}' found. A user can only be defined once in config files", name)};
  }
  const std::vector<std::string_view> rules(words->begin() + 2, words->end());
  const MergedRules merged = merge_selector_rules(rules);
  if (!merged.is_whole()) return Failure{"Unmatched parenthesis in selector definition"};
  User user(name, *rights_);
  if (const User::Refused refused = user.apply_all(merged.rules)) {
    const bool is_secret = refused.rule.starts_with('>') || refused.rule.starts_with('<');
    return Failure{fmt::format("{} ('{}')", rule_error_text(refused.error),
                               is_secret ? "(a password)" : refused.rule)};
  }
  users.push_back(std::move(user));
  return Done{};
}

Result<std::vector<User>> Users::read(std::string_view text, std::string_view source) const {
  std::vector<User> users;
  std::string problems;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (line.empty() || line.starts_with('#')) continue;
    const Status done = read_line(line, users);
    if (!done) problems += fmt::format("{}:{}: {}. ", source, number, done.error().text);
  }
  if (!problems.empty()) return Failure{std::move(problems)};
  return users;
}

std::vector<Users::Shared> Users::replace_all(std::vector<User> users) {
  const bool has_default = std::any_of(
      users.begin(), users.end(), [](const User& user) { return user.name() == kDefaultUser; });
  if (!has_default) users.push_back(User::all_rights(std::string(kDefaultUser), *rights_));
  std::vector<Shared> changed;
  ByName old = std::move(users_);
  users_.clear();
  for (User& user : users) {
    const auto known = old.find(user.name());
    if (known == old.end()) {
      put(std::move(user));
      continue;
    }
    if (known->second->rules_text() != user.rules_text()) changed.push_back(known->second);
    *known->second = std::move(user);
    users_.emplace(known->first, known->second);
    old.erase(known);
  }
  for (auto& [name, gone] : old) changed.push_back(std::move(gone));
  return changed;
}

std::string Users::text() const {
  std::string text;
  for (const auto& [name, user] : users_) text += user_line(*user) + "\n";
  return text;
}

}  // namespace redlock::protocol
