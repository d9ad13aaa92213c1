#include "tests/differential/acl_grammar.h"

#include "protocol/access/password_hash.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::string_view kUsers[] = {"ann"sv, "ben"sv};
constexpr std::string_view kPasswords[] = {"p1"sv, "p2"sv, ""sv, "two words"sv};
constexpr std::string_view kOfUser[] = {"on"sv,
                                        "off"sv,
                                        "nopass"sv,
                                        "resetpass"sv,
                                        "reset"sv,
                                        "clearselectors"sv,
                                        "sanitize-payload"sv};
constexpr std::string_view kOfSelector[] = {
    "allkeys"sv,       "resetkeys"sv,   "~*"sv,         "allchannels"sv, "&*"sv,
    "resetchannels"sv, "allcommands"sv, "nocommands"sv, "+@all"sv,       "-@all"sv};
// Those of Redis, whatever the node has in them: sets and streams it has not.
constexpr std::string_view kCategories[] = {
    "read"sv,        "write"sv,     "string"sv, "hash"sv,      "keyspace"sv, "fast"sv,
    "slow"sv,        "pubsub"sv,    "admin"sv,  "dangerous"sv, "blocking"sv, "connection"sv,
    "transaction"sv, "scripting"sv, "stream"sv, "nosuch"sv};
constexpr std::string_view kAccess[] = {"~"sv, "~"sv, "%R~"sv, "%W~"sv, "%RW~"sv, "%r~"sv, "%"sv};
constexpr std::string_view kDamage[] = {""sv, "|"sv, " "sv, "@"sv, "+"sv, "("sv, "\0"sv, "x"sv};

// Redis takes a bracket within an open one for the beginning of its selector, and forgets what
// stood before it; and its texts end at a zero byte.
void leave_out_what_redis_loses(Words& rules) {
  bool is_open = false;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::string& rule = rules[i];
    rule.resize(std::min(rule.size(), rule.find('\0')));
    if (is_open && rule.starts_with('(')) return rules.resize(i);
    is_open = (is_open || rule.starts_with('(')) && !rule.ends_with(')');
  }
}

}  // namespace

std::span<const std::string_view> AclGrammar::users() {
  return kUsers;
}

std::string AclGrammar::user() {
  return words_.pick(kUsers);
}

std::string AclGrammar::password() {
  return words_.chance(70) ? std::string(kPasswords[0]) : words_.pick(kPasswords);
}

Words AclGrammar::capable_user(const std::string& name) {
  Words request = {words_.in_any_case("ACL"), words_.in_any_case("SETUSER"), name, "on",
                   fmt::format(">{}", kPasswords[0])};
  request.push_back(words_.chance(50) ? "+@all" : "+@" + category());
  if (request.back() == "+@nosuch") request.back() = "+@keyspace";
  if (words_.chance(80)) request.push_back(key_rule());
  for (std::string& rule : rules()) request.push_back(std::move(rule));
  return request;
}

Words AclGrammar::rules() {
  Words rules;
  for (std::size_t i = words_.below(7); i > 0; --i) add_rule(rules);
  leave_out_what_redis_loses(rules);
  return rules;
}

// A selector may come as one word or as several.
void AclGrammar::add_rule(Words& rules) {
  const std::size_t choice = words_.below(100);
  if (choice < 10) {
    rules.push_back(words_.in_any_case(words_.pick(kOfUser)));
  } else if (choice < 22) {
    rules.push_back(password_rule());
  } else if (choice < 30) {
    const bool is_one_word = words_.chance(50);
    std::string selector = "(";
    for (std::size_t i = words_.below(4); i > 0; --i) {
      selector += rule_of_selector();
      if (i > 1) selector += ' ';
    }
    selector += words_.chance(95) ? ")" : "";
    if (is_one_word) return rules.push_back(std::move(selector));
    for (std::size_t end = selector.find(' '); end != std::string::npos; end = selector.find(' ')) {
      rules.push_back(selector.substr(0, end));
      selector.erase(0, end + 1);
    }
    rules.push_back(std::move(selector));
  } else {
    rules.push_back(rule_of_selector());
  }
  if (words_.chance(3)) rules.back() = damaged(rules.back());
}

std::string AclGrammar::rule_of_selector() {
  const std::size_t choice = words_.below(100);
  if (choice < 15) return words_.in_any_case(words_.pick(kOfSelector));
  if (choice < 40) return key_rule();
  if (choice < 50) return "&" + (words_.chance(50) ? words_.channel() : words_.pattern());
  if (choice < 70) return (words_.chance(60) ? "+@" : "-@") + words_.in_any_case(category());
  return command_rule();
}

std::string AclGrammar::password_rule() {
  const std::string plain = password();
  switch (words_.below(8)) {
    case 0:
      return "#" + protocol::password_hash(plain);
    case 1:
      return "!" + protocol::password_hash(plain);
    case 2:
      return "<" + plain;
    case 3:
      return "#" + plain;
    default:
      return ">" + plain;
  }
}

std::string AclGrammar::key_rule() {
  const std::string access = words_.pick(kAccess);
  return access + (words_.chance(40) ? words_.key() : words_.pattern());
}

std::string AclGrammar::category() {
  return words_.pick(kCategories);
}

std::string AclGrammar::command_rule() {
  const std::string sign = words_.chance(65) ? "+" : "-";
  std::string name = commands_[words_.below(commands_.size())];
  if (words_.chance(4)) name += "|" + (words_.chance(50) ? "0"s : words_.field());
  return sign + words_.in_any_case(name);
}

std::string AclGrammar::damaged(std::string rule) {
  const std::size_t at = words_.below(rule.size() + 1);
  if (words_.chance(50)) return rule.insert(at, words_.pick(kDamage));
  return rule.substr(0, at);
}

}  // namespace redlock::differential
