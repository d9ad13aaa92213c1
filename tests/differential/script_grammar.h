// Scripts from a grammar: calls with what they were given, values of every kind that a script can
// answer, and the arithmetic of lock scripts, in the Lua that 5.1 and 5.4 share.
#pragma once

#include "tests/differential/vocabulary.h"

#include <functional>
#include <string>

namespace redlock::differential {

// A request for redis.call.
using MakeRequest = std::function<Words()>;

class ScriptGrammar {
 public:
  ScriptGrammar(Vocabulary& words, MakeRequest make_request)
      : words_(words), make_request_(std::move(make_request)) {}

  // EVAL's words: the script, its keys and arguments.
  Words eval();

 private:
  std::string statement(int depth);
  std::string returned();
  std::string expression(int depth);
  std::string condition();
  std::string call();
  std::string table(int depth);
  std::string known_script();

  Vocabulary& words_;
  MakeRequest make_request_;
  int locals_ = 0;
  bool compares_ = false;  // it writes a condition
};

// A text as Lua writes it, every odd byte as \ddd.
std::string lua_quoted(std::string_view text);

}  // namespace redlock::differential
