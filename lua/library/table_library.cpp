// table: Lua's own and the names of Lua 5.1, with guards against lengths that are not real. A table
// can claim any length (by __len, or with a few keys at powers of two), and these functions would
// walk it without an instruction in between.
#include "lua/library/arguments.h"
#include "lua/library/limits.h"
#include "lua/library/protected_table.h"
#include "lua/library/sandbox.h"
#include "lua/library/script_context.h"

#include <algorithm>
#include <cmath>

namespace redlock::lua {
namespace {

// Of a sort that goes as Lua's own: some tenths of a millisecond.
constexpr double kShortSortSteps = 1e4;

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

// To be called for each element of a walk: a look now and then.
void step(lua_State* lua, lua_Integer index) {
  constexpr lua_Integer kStepsBetweenLooks = 1024;
  if (index % kStepsBetweenLooks == 0) stop_if_aborted(lua);
}

lua_Integer span_of(lua_Integer first, lua_Integer last) {
  const auto span = static_cast<lua_Unsigned>(last) - static_cast<lua_Unsigned>(first);
  return span > kTableItemsMax ? kTableItemsMax + 1 : static_cast<lua_Integer>(span);
}

int concat(lua_State* lua) {
  stop_if_aborted(lua);
  luaL_checktype(lua, 1, LUA_TTABLE);
  std::size_t separator_bytes = 0;
  const char* const separator = luaL_optlstring(lua, 2, "", &separator_bytes);
  const lua_Integer first = optional_integer(lua, 3, 1);
  const lua_Integer last = lua_isnoneornil(lua, 4) ? honest_length(lua) : checked_integer(lua, 4);
  if (first <= last) require_walkable(lua, span_of(first, last));
  luaL_Buffer buffer;
  luaL_buffinit(lua, &buffer);
  for (lua_Integer i = first; i <= last; ++i) {
    step(lua, i);
    lua_rawgeti(lua, 1, i);
    if (lua_isstring(lua, -1) == 0) {
      luaL_error(lua, "invalid value (at index %I) in table for 'concat'",
                 static_cast<LUAI_UACINT>(i));
    }
    write_float(lua, -1);
    luaL_addvalue(&buffer);
    if (i == last) break;  // the next number may not exist
    luaL_addlstring(&buffer, separator, separator_bytes);
  }
  luaL_pushresult(&buffer);
  return 1;
}

void move_item(lua_State* lua, lua_Integer from, lua_Integer to) {
  lua_rawgeti(lua, 1, from);
  lua_rawseti(lua, 1, to);
}

// insert(table, value) or insert(table, position, value). As in Lua 5.1 any position will do.
int insert(lua_State* lua) {
  stop_if_aborted(lua);
  const lua_Integer next = honest_length(lua) + 1;
  const int argument_count = lua_gettop(lua);
  if (argument_count != 2 && argument_count != 3) {
    return luaL_error(lua, "wrong number of arguments to 'insert'");
  }
  if (push_real_table(lua, 1)) return raise_read_only(lua);
  const lua_Integer position = argument_count == 2 ? next : checked_integer(lua, 2);
  if (position < next) require_walkable(lua, span_of(position, next));
  for (lua_Integer i = next; i > position; --i) {
    step(lua, i);
    move_item(lua, i - 1, i);
  }
  lua_rawseti(lua, 1, position);
  return 0;
}

// remove(table, position): nothing if there is none.
int remove(lua_State* lua) {
  stop_if_aborted(lua);
  const lua_Integer last = honest_length(lua);
  if (push_real_table(lua, 1)) return raise_read_only(lua);
  const lua_Integer position = optional_integer(lua, 2, last);
  if (position < 1 || position > last) return 0;
  require_walkable(lua, last - position);
  lua_rawgeti(lua, 1, position);
  for (lua_Integer i = position; i < last; ++i) {
    step(lua, i);
    move_item(lua, i + 1, i);
  }
  lua_pushnil(lua);
  lua_rawseti(lua, 1, last);
  return 1;
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

// The comparison of a sort, of which Lua's own library asks nothing in between.
int compare(lua_State* lua) {
  stop_if_aborted(lua);
  if (lua_isnil(lua, lua_upvalueindex(1))) {
    lua_pushboolean(lua, lua_compare(lua, 1, 2, LUA_OPLT));
  } else {
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, 2, 1);
  }
  return 1;
}

// A comparison that is written in Lua is ended by the hook. Any other is wrapped in one that looks
// for the abort, which takes its time, so a short table without a comparison goes without.
int sort(lua_State* lua) {
  stop_if_aborted(lua);
  const lua_Integer items = honest_length(lua);
  require_walkable(lua, items);
  constexpr double kBytesPerStep = 64;  // strings are compared byte by byte, as strcoll does
  const auto count = static_cast<double>(items);
  const double step = 1 + static_cast<double>(longest_string(lua, items)) / kBytesPerStep;
  const double steps = count * std::log2(count + 1) * step;
  if (steps > kSortStepsMax) return luaL_error(lua, "too much to sort in one call");
  lua_settop(lua, 2);
  const bool is_short = lua_isnil(lua, 2) && steps < kShortSortSteps;
  if (!is_short && (lua_isnil(lua, 2) || lua_iscfunction(lua, 2) != 0)) {
    lua_pushcclosure(lua, &compare, 1);
  }
  return call_original(lua);
}

// With positions that may be fractions.
int unpack(lua_State* lua) {
  stop_if_aborted(lua);
  truncate_argument(lua, 2);
  truncate_argument(lua, 3);
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
  static const luaL_Reg kFunctions[] = {
      {"concat", &concat}, {"foreach", &for_each}, {"foreachi", &for_each_index},
      {"getn", &length},   {"insert", &insert},    {"maxn", &largest_index},
      {"remove", &remove}, {"setn", &set_length},  {nullptr, nullptr}};
  luaL_newlib(lua, kFunctions);
  push_original(lua, &luaopen_table, LUA_TABLIBNAME);
  const int library = lua_absindex(lua, -2);
  copy_fields(lua, -1, library, {"pack"});
  set_guarded(lua, -1, library, "unpack", &unpack);
  set_guarded(lua, -1, library, "sort", &sort);
  lua_pop(lua, 1);
}

}  // namespace redlock::lua
