#include "lua/library/word_tables.h"

namespace redlock::lua {

void WordTables::show(lua_State* lua, std::span<const std::string_view> words, bool may_change) {
  if (!may_change && words.size() <= kWordsMax) return show_kept(lua, words);
  shown_ = kNone;
  lua_createtable(lua, static_cast<int>(words.size()), 0);
  lua_Integer index = 0;
  for (const std::string_view word : words) {
    lua_pushlstring(lua, word.data(), word.size());
    lua_rawseti(lua, -2, ++index);
  }
  lua_setfield(lua, -2, name_);
}

void WordTables::show_kept(lua_State* lua, std::span<const std::string_view> words) {
  const std::size_t count = words.size();
  if (kept_[count] == LUA_NOREF) {
    lua_createtable(lua, static_cast<int>(count), 0);
    kept_[count] = luaL_ref(lua, LUA_REGISTRYINDEX);
  }
  lua_rawgeti(lua, LUA_REGISTRYINDEX, kept_[count]);
  for (std::size_t i = 0; i < count; ++i) {
    words_[i] = {lua_pushlstring(lua, words[i].data(), words[i].size()), words[i].size()};
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
  }
  if (shown_ == count) return lua_pop(lua, 1);
  lua_setfield(lua, -2, name_);
  shown_ = count;
}

bool WordTables::push_word(lua_State* lua, std::string_view text) const {
  if (shown_ == kNone) return false;
  for (std::size_t i = 0; i < shown_; ++i) {
    if (words_[i] != text) continue;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, kept_[shown_]);
    lua_rawgeti(lua, -1, static_cast<lua_Integer>(i + 1));
    lua_replace(lua, -2);
    return true;
  }
  return false;
}

void WordTables::clear(lua_State* lua) {
  for (int& reference : kept_) {
    luaL_unref(lua, LUA_REGISTRYINDEX, reference);
    reference = LUA_NOREF;
  }
  show(lua, {}, true);
}

void WordTables::forget() {
  kept_.fill(LUA_NOREF);
  shown_ = kNone;
}

}  // namespace redlock::lua
