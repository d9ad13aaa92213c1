#include "lua/library/arguments.h"

#include <cmath>
#include <cstdio>

namespace redlock::lua {

lua_Integer checked_integer(lua_State* lua, int argument) {
  int is_exact = 0;
  lua_Integer integer = lua_tointegerx(lua, argument, &is_exact);
  if (is_exact != 0) return integer;
  const lua_Number truncated = std::trunc(luaL_checknumber(lua, argument));
  luaL_argcheck(lua, lua_numbertointeger(truncated, &integer), argument,
                "number has no integer representation");
  return integer;
}

lua_Integer optional_integer(lua_State* lua, int argument, lua_Integer otherwise) {
  return lua_isnoneornil(lua, argument) ? otherwise : checked_integer(lua, argument);
}

void truncate_argument(lua_State* lua, int argument) {
  if (lua_isinteger(lua, argument) != 0 || lua_isnoneornil(lua, argument)) return;
  lua_pushinteger(lua, checked_integer(lua, argument));
  lua_replace(lua, argument);
}

bool read_number(lua_State* lua, int argument) {
  if (lua_type(lua, argument) == LUA_TNUMBER) return true;
  if (lua_isnumber(lua, argument) == 0) return false;
  lua_stringtonumber(lua, lua_tostring(lua, argument));
  lua_replace(lua, argument);
  return true;
}

std::string_view checked_text(lua_State* lua, int argument) {
  std::size_t bytes = 0;
  const char* const text = luaL_checklstring(lua, argument, &bytes);
  return {text, bytes};
}

void write_float(lua_State* lua, int index) {
  if (lua_type(lua, index) != LUA_TNUMBER || lua_isinteger(lua, index) != 0) return;
  const int place = lua_absindex(lua, index);
  char text[32];
  const int bytes = std::snprintf(text, sizeof text, "%.14g", lua_tonumber(lua, place));
  lua_pushlstring(lua, text, static_cast<std::size_t>(bytes));
  lua_replace(lua, place);
}

}  // namespace redlock::lua
