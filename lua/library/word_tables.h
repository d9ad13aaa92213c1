// WordTables: a global of scripts that lists words, KEYS or ARGV, filled anew for each run.
//
// To make a table, and to collect it, costs more than all that a lock's script does. So a table is
// kept for each small number of words, and filled again after scripts that cannot have changed it
// (script_words.h): then it holds its words at 1 to n and nothing else, and has no metatable.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include <lua.hpp>

namespace redlock::lua {

class WordTables {
 public:
  static constexpr std::size_t kWordsMax = 4;  // of a table that is kept

  explicit WordTables(const char* name) : name_(name) { forget(); }

  // Sets the global in the table of globals, which is on top of the stack, for a script that may
  // change it or cannot. May raise a Lua error, for lack of memory.
  void show(lua_State* lua, std::span<const std::string_view> words, bool may_change);
  // Pushes the word that is this text, if there is one that was shown to a script which cannot
  // change it. Lua hashes each text that it is given: a lock's value, which is compared with that
  // in ARGV, would be hashed twice.
  bool push_word(lua_State* lua, std::string_view text) const;
  // Lets the collector have all words: the global is empty. The same table must be on top.
  void clear(lua_State* lua);
  // The Lua state is gone, and the tables with it.
  void forget();

 private:
  static constexpr std::size_t kNone = kWordsMax + 1;

  void show_kept(lua_State* lua, std::span<const std::string_view> words);

  const char* name_;
  std::array<int, kWordsMax + 1> kept_;            // by the number of words: the registry's number
  std::size_t shown_ = kNone;                      // which of them the global is
  std::array<std::string_view, kWordsMax> words_;  // of the one that is shown: Lua's own copies
};

}  // namespace redlock::lua
