// math: Lua's own, the names of Lua 5.1, max and min that take numeric strings, and Redis's random.
#include "lua/library/arguments.h"
#include "lua/library/sandbox.h"
#include "lua/library/script_context.h"

#include <cmath>

namespace redlock::lua {
namespace {

// Scripts pass ARGV. Lua's own max converts strings to check them, and then compares them as such.
int pick(lua_State* lua, bool (*is_better)(lua_State*, int candidate, int best)) {
  const int count = lua_gettop(lua);
  luaL_checknumber(lua, 1);
  int best = 1;
  for (int i = 1; i <= count; ++i) {
    stop_if_aborted(lua);
    if (!read_number(lua, i)) luaL_checknumber(lua, i);  // which says what it is
    if (is_better(lua, i, best)) best = i;
  }
  lua_pushvalue(lua, best);
  return 1;
}

int max(lua_State* lua) {
  return pick(lua, [](lua_State* state, int candidate, int best) {
    return lua_compare(state, best, candidate, LUA_OPLT) != 0;
  });
}

int min(lua_State* lua) {
  return pick(lua, [](lua_State* state, int candidate, int best) {
    return lua_compare(state, candidate, best, LUA_OPLT) != 0;
  });
}

int random(lua_State* lua) {
  const double fraction = script_context(lua).random.next_fraction();
  const int argument_count = lua_gettop(lua);
  if (argument_count == 0) {
    lua_pushnumber(lua, fraction);
    return 1;
  }
  if (argument_count > 2) return luaL_error(lua, "wrong number of arguments");
  const lua_Integer low = argument_count == 2 ? checked_integer(lua, 1) : 1;
  const lua_Integer high = checked_integer(lua, argument_count);
  luaL_argcheck(lua, low <= high, argument_count, "interval is empty");
  const double width = static_cast<double>(high) - static_cast<double>(low) + 1;
  const double offset = std::floor(fraction * width);
  lua_Integer steps = 0;
  luaL_argcheck(lua, lua_numbertointeger(offset, &steps), argument_count, "interval too large");
  lua_pushinteger(lua, static_cast<lua_Integer>(static_cast<lua_Unsigned>(low) +
                                                static_cast<lua_Unsigned>(steps)));
  return 1;
}

int random_seed(lua_State* lua) {
  script_context(lua).random.seed(static_cast<std::int32_t>(checked_integer(lua, 1)));
  return 0;
}

}  // namespace

void open_math_library(lua_State* lua) {
  static const luaL_Reg kFunctions[] = {{"max", &max},
                                        {"min", &min},
                                        {"random", &random},
                                        {"randomseed", &random_seed},
                                        {nullptr, nullptr}};
  luaL_newlib(lua, kFunctions);
  push_original(lua, &luaopen_math, LUA_MATHLIBNAME);
  const int library = lua_absindex(lua, -2);
  copy_fields(lua, -1, library,
              {"abs",  "acos",  "asin",       "atan",       "ceil",     "cos",   "cosh", "deg",
               "exp",  "floor", "fmod",       "frexp",      "huge",     "ldexp", "log",  "log10",
               "modf", "pi",    "pow",        "rad",        "sin",      "sinh",  "sqrt", "tan",
               "tanh", "type",  "maxinteger", "mininteger", "tointeger"});
  lua_getfield(lua, -1, "fmod");
  lua_setfield(lua, library, "mod");
  lua_getfield(lua, -1, "atan");
  lua_setfield(lua, library, "atan2");
  lua_pop(lua, 1);
}

}  // namespace redlock::lua
