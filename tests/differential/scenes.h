// What clients do in a generated sequence, a scene at a time: one request,
// or some that belong together.
#pragma once

#include "tests/differential/acl_grammar.h"
#include "tests/differential/generator.h"
#include "tests/differential/script_grammar.h"
#include "tests/differential/vocabulary.h"

namespace redlock::differential {

class Scenes {
 public:
  Scenes(Random& random, const std::vector<KnownCommand>& commands,
         const std::vector<std::string>& tokens, const std::set<std::string>& names,
         const std::vector<std::string>& names_in_rules);

  // Adds one scene.
  void play_one(Sequence& sequence);

 private:
  enum class Damage { none, some };
  using Filter = bool (*)(const KnownCommand&);

  static bool any_command(const KnownCommand&) { return true; }
  Words request(Filter filter, Damage damage);
  const KnownCommand& draw(Filter filter);
  void write_argument(const protocol::SyntaxArgument& argument, Words& words);
  void damage(Words& words);
  Words newer_request();
  void add(Sequence& sequence, Words words);

  void single_request(Sequence& sequence);
  void script(Sequence& sequence);
  void loaded_script(Sequence& sequence);
  void transaction(Sequence& sequence);
  void lock_that_ends(Sequence& sequence);
  void subscription(Sequence& sequence);
  void events(Sequence& sequence);
  void greeting(Sequence& sequence);
  void muted_client(Sequence& sequence);
  void settings(Sequence& sequence);
  void bytes(Sequence& sequence);
  void leave(Sequence& sequence);
  void pause(Sequence& sequence);
  void monitoring(Sequence& sequence);
  void users(Sequence& sequence);
  Words question_about_users();
  void request_of_user(Sequence& sequence, const std::string& who);
  std::string client();
  bool serves(std::string_view name) const { return names_.contains(std::string(name)); }

  Vocabulary words_;
  ScriptGrammar scripts_;
  AclGrammar acl_;
  const std::vector<KnownCommand>& commands_;
  const std::vector<std::string>& tokens_;
  const std::set<std::string>& names_;
  std::set<std::string> listeners_;  // clients that have subscribed to something
};

}  // namespace redlock::differential
