// string: Lua's own, with guards where one call can work for minutes or walk for ever.
#include "lua/limits.h"
#include "lua/pattern_cost.h"
#include "lua/sandbox.h"
#include "lua/script_context.h"

namespace redlock::lua {
namespace {

std::string_view checked_text(lua_State* lua, int argument) {
  std::size_t bytes = 0;
  const char* const text = luaL_checklstring(lua, argument, &bytes);
  return {text, bytes};
}

void require_affordable(lua_State* lua, double steps) {
  if (steps > kPatternStepsMax) {
    luaL_error(lua, "pattern is too costly for a subject of this length");
  }
}

// Bytes behind the third argument's position.
std::size_t searched_bytes(lua_State* lua, std::size_t subject_bytes) {
  const lua_Integer start = luaL_optinteger(lua, 3, 1);
  if (start <= 0) return subject_bytes;
  const auto skipped = static_cast<std::size_t>(start) - 1;
  return skipped >= subject_bytes ? 0 : subject_bytes - skipped;
}

int find(lua_State* lua) {
  stop_if_aborted(lua);
  const std::size_t bytes = searched_bytes(lua, checked_text(lua, 1).size());
  const std::string_view pattern = checked_text(lua, 2);
  const bool is_search = lua_toboolean(lua, 4) != 0 || is_plain(pattern);
  require_affordable(
      lua, is_search ? plain_search_steps(pattern.size(), bytes) : pattern_steps(pattern, bytes));
  return call_original(lua);
}

int match(lua_State* lua) {
  stop_if_aborted(lua);
  const std::size_t bytes = searched_bytes(lua, checked_text(lua, 1).size());
  require_affordable(lua, pattern_steps(checked_text(lua, 2), bytes));
  return call_original(lua);
}

// gsub, and gmatch with all that its iterator will do: each place is tried once, as in a search.
int match_all(lua_State* lua) {
  stop_if_aborted(lua);
  const std::size_t bytes = checked_text(lua, 1).size();
  require_affordable(lua, pattern_steps(checked_text(lua, 2), bytes));
  return call_original(lua);
}

// A string of no bytes can be repeated 2^63 times, which takes no memory but for ever.
int repeat(lua_State* lua) {
  stop_if_aborted(lua);
  const double bytes = static_cast<double>(checked_text(lua, 1).size());
  const double count = static_cast<double>(luaL_checkinteger(lua, 2));
  std::size_t separator_bytes = 0;
  luaL_optlstring(lua, 3, "", &separator_bytes);
  const double all_bytes = (bytes + static_cast<double>(separator_bytes)) * count;
  if (count > 0 && all_bytes == 0) {
    lua_pushliteral(lua, "");
    return 1;
  }
  const auto bytes_max = static_cast<double>(script_context(lua).string_bytes_max);
  if (all_bytes > bytes_max) return luaL_error(lua, "resulting string too large");
  return call_original(lua);
}

}  // namespace

void open_string_library(lua_State* lua) {
  lua_newtable(lua);
  push_original(lua, &luaopen_string, LUA_STRLIBNAME);
  copy_fields(lua, -1, -2, {"byte", "char", "format", "len", "lower", "reverse", "sub", "upper"});
  const int library = lua_absindex(lua, -2);
  set_guarded(lua, -1, library, "find", &find);
  set_guarded(lua, -1, library, "match", &match);
  set_guarded(lua, -1, library, "gmatch", &match_all);
  set_guarded(lua, -1, library, "gsub", &match_all);
  set_guarded(lua, -1, library, "rep", &repeat);
  lua_pop(lua, 1);
  lua_getfield(lua, -1, "gmatch");
  lua_setfield(lua, -2, "gfind");

  // The metatable of all strings, for ("x"):rep(2) and "1" + 1, comes from luaopen_string.
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 2);
}

}  // namespace redlock::lua
