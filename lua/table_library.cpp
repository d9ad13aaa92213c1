// table: Lua's own and the names of Lua 5.1, with guards against lengths that are not real. A table
// can claim any length (by __len, or with a few keys at powers of two), and these functions would
// walk it without an instruction in between.
#include "lua/limits.h"
#include "lua/sandbox.h"
#include "lua/script_context.h"

#include <algorithm>
#include <cmath>

namespace redlock::lua {
namespace {

void require_walkable(lua_State* lua, lua_Integer items) {
  if (items > kTableItemsMax) luaL_error(lua, "too many elements for one call");
}

// The length of a table that has only its own. Lua 5.1 knows no __len of tables; here it could
// answer the guard otherwise than the function behind it.
lua_Integer honest_length(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (luaL_getmetafield(lua, 1, "__len") != LUA_TNIL) {
    luaL_argerror(lua, 1, "a table with __len is not taken");
  }
  return static_cast<lua_Integer>(lua_rawlen(lua, 1));
}

int concat(lua_State* lua) {
  stop_if_aborted(lua);
  const lua_Integer first = luaL_optinteger(lua, 3, 1);
  if (lua_isnoneornil(lua, 4)) {
    const lua_Integer length = honest_length(lua);
    lua_settop(lua, 3);
    lua_pushinteger(lua, length);
  }
  const lua_Integer last = luaL_checkinteger(lua, 4);
  if (first <= last) {
    const auto span = static_cast<lua_Unsigned>(last) - static_cast<lua_Unsigned>(first);
    require_walkable(lua,
                     span > kTableItemsMax ? kTableItemsMax + 1 : static_cast<lua_Integer>(span));
  }
  return call_original(lua);
}

// Appending walks nothing; a position makes all behind it move.
int insert(lua_State* lua) {
  stop_if_aborted(lua);
  const lua_Integer length = honest_length(lua);
  if (lua_gettop(lua) > 2) require_walkable(lua, length);
  return call_original(lua);
}

int remove(lua_State* lua) {
  stop_if_aborted(lua);
  const lua_Integer length = honest_length(lua);
  if (lua_gettop(lua) > 1) require_walkable(lua, length);
  return call_original(lua);
}

std::size_t longest_string(lua_State* lua, lua_Integer items) {
  std::size_t longest = 0;
  for (lua_Integer i = 1; i <= items; ++i) {
    if (lua_rawgeti(lua, 1, i) == LUA_TSTRING) {
      longest = std::max(longest, static_cast<std::size_t>(lua_rawlen(lua, -1)));
    }
    lua_pop(lua, 1);
  }
  return longest;
}

int sort(lua_State* lua) {
  stop_if_aborted(lua);
  const lua_Integer items = honest_length(lua);
  require_walkable(lua, items);
  constexpr double kBytesPerStep = 64;  // strings are compared byte by byte, as strcoll does
  const auto count = static_cast<double>(items);
  const double step = 1 + static_cast<double>(longest_string(lua, items)) / kBytesPerStep;
  if (count * std::log2(count + 1) * step > kSortStepsMax) {
    return luaL_error(lua, "too much to sort in one call");
  }
  return call_original(lua);
}

// What Lua 5.1 has beyond 5.4.

int length(lua_State* lua) {
  lua_pushinteger(lua, honest_length(lua));
  return 1;
}

int largest_index(lua_State* lua) {
  stop_if_aborted(lua);
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 1);
  lua_pushinteger(lua, 0);
  constexpr int kLargest = 2;
  lua_pushnil(lua);
  while (lua_next(lua, 1) != 0) {
    lua_pop(lua, 1);
    if (lua_type(lua, -1) == LUA_TNUMBER && lua_compare(lua, kLargest, -1, LUA_OPLT) != 0) {
      lua_pushvalue(lua, -1);
      lua_replace(lua, kLargest);
    }
  }
  lua_settop(lua, kLargest);
  return 1;
}

int for_each_index(lua_State* lua) {
  const lua_Integer items = honest_length(lua);
  require_walkable(lua, items);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  for (lua_Integer i = 1; i <= items; ++i) {
    stop_if_aborted(lua);
    lua_pushvalue(lua, 2);
    lua_pushinteger(lua, i);
    lua_rawgeti(lua, 1, i);
    lua_call(lua, 2, 1);
    if (!lua_isnil(lua, -1)) return 1;
    lua_pop(lua, 1);
  }
  return 0;
}

int for_each(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_pushnil(lua);
  while (lua_next(lua, 1) != 0) {
    stop_if_aborted(lua);
    lua_pushvalue(lua, 2);
    lua_pushvalue(lua, -3);
    lua_pushvalue(lua, -3);
    lua_call(lua, 2, 1);
    if (!lua_isnil(lua, -1)) return 1;
    lua_pop(lua, 2);
  }
  return 0;
}

int set_length(lua_State* lua) {
  return luaL_error(lua, "'setn' is obsolete");
}

}  // namespace

void open_table_library(lua_State* lua) {
  static const luaL_Reg kFunctions[] = {{"foreach", &for_each}, {"foreachi", &for_each_index},
                                        {"getn", &length},      {"maxn", &largest_index},
                                        {"setn", &set_length},  {nullptr, nullptr}};
  luaL_newlib(lua, kFunctions);
  push_original(lua, &luaopen_table, LUA_TABLIBNAME);
  const int library = lua_absindex(lua, -2);
  copy_fields(lua, -1, library, {"pack", "unpack"});
  set_guarded(lua, -1, library, "concat", &concat);
  set_guarded(lua, -1, library, "insert", &insert);
  set_guarded(lua, -1, library, "remove", &remove);
  set_guarded(lua, -1, library, "sort", &sort);
  lua_pop(lua, 1);
}

}  // namespace redlock::lua
