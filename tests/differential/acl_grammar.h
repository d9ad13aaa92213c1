// Users from a grammar: rules of every kind that Redis's ACL SETUSER takes, some of them damaged.
//
// Few names, few passwords and few patterns, so that rules meet: a password that is taken away was
// often given before, a pattern matches some of the vocabulary's keys and not others.
#pragma once

#include "tests/differential/vocabulary.h"

#include <string>
#include <vector>

namespace redlock::differential {

class AclGrammar {
 public:
  // commands: "get", "client|list"; what both servers have. Both outlive it.
  AclGrammar(Vocabulary& words, const std::vector<std::string>& commands)
      : words_(words), commands_(commands) {}

  // All whom a sequence may make; the default user is not among them.
  static std::span<const std::string_view> users();

  std::string user();
  std::string password();
  // One that may do something, as most that are made at random may not.
  Words capable_user(const std::string& name);
  // ACL SETUSER's words behind the name: up to six rules.
  Words rules();

 private:
  void add_rule(Words& rules);
  std::string rule_of_selector();
  std::string password_rule();
  std::string key_rule();
  std::string command_rule();
  std::string category();
  std::string damaged(std::string rule);

  Vocabulary& words_;
  const std::vector<std::string>& commands_;
};

}  // namespace redlock::differential
