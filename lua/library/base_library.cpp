// The base library: Lua's own where it is harmless, and our own for what would get around read-only
// tables, memory safety (bytecode, __gc), a collector that gives way (__mode)
// or the time limit (xpcall).
#include "lua/library/arguments.h"
#include "lua/library/protected_table.h"
#include "lua/library/sandbox.h"
#include "lua/library/script_context.h"
#include "lua/library/source_reader.h"

#include <string_view>

namespace redlock::lua {
namespace {

// If the argument is a read-only table, the function goes on with the real one. Only for functions
// that read.
void look_through(lua_State* lua, int argument) {
  if (push_real_table(lua, argument)) lua_replace(lua, argument);
}

int next(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 2);
  look_through(lua, 1);
  if (lua_next(lua, 1) != 0) return 2;
  lua_pushnil(lua);
  return 1;
}

int pairs(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushcfunction(lua, &next);
  lua_pushvalue(lua, 1);
  lua_pushnil(lua);
  return 3;
}

int raw_get(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checkany(lua, 2);
  lua_settop(lua, 2);
  look_through(lua, 1);
  lua_rawget(lua, 1);
  return 1;
}

// Weak tables (__mode) are not for scripts: one step of the collector may take the square of such a
// table's length. A metatable can get the field at any later time. So each that a script sets gets
// a metatable of its own, this guard, which looks at new fields; and so it can have no other.
constexpr char kMetatableGuard = 0;

bool is_mode(lua_State* lua, int index) {
  return lua_type(lua, index) == LUA_TSTRING &&
         std::string_view(lua_tostring(lua, index)) == "__mode";
}

int refuse_weakness(lua_State* lua) {
  return luaL_error(lua, "__mode is not available to scripts");
}

int set_new_field(lua_State* lua) {
  if (is_mode(lua, 2)) return refuse_weakness(lua);
  lua_rawset(lua, 1);
  return 0;
}

// Pushes the guard, too.
bool has_guard(lua_State* lua, int table) {
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &kMetatableGuard);
  if (lua_getmetatable(lua, table) == 0) return false;
  const bool is_guarded = lua_rawequal(lua, -1, -2) != 0;
  lua_pop(lua, 1);
  return is_guarded;
}

// The table is to be a metatable.
void guard_metatable(lua_State* lua, int table) {
  for (const char* field : {"__gc", "__mode"}) {
    lua_pushstring(lua, field);
    if (lua_rawget(lua, table) != LUA_TNIL) {
      luaL_error(lua, "%s is not available to scripts", field);
    }
    lua_pop(lua, 1);
  }
  const bool is_guarded = has_guard(lua, table);
  if (!is_guarded && lua_getmetatable(lua, table) != 0) {
    luaL_error(lua, "a table that has a metatable cannot be one in scripts here");
  }
  lua_setmetatable(lua, table);
}

int raw_set(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checkany(lua, 2);
  luaL_checkany(lua, 3);
  if (push_real_table(lua, 1)) return raise_read_only(lua);
  if (is_mode(lua, 2)) return refuse_weakness(lua);
  lua_settop(lua, 3);
  lua_rawset(lua, 1);
  return 1;
}

int get_metatable(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (push_real_table(lua, 1) || has_guard(lua, 1) || lua_getmetatable(lua, 1) == 0) {
    lua_pushnil(lua);
    return 1;
  }
  luaL_getmetafield(lua, 1, "__metatable");  // pushes nothing when there is none
  return 1;
}

// __gc would run code of the script outside of it, at any later time; for __mode see above.
int set_metatable(lua_State* lua) {
  const int type = lua_type(lua, 2);
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_argexpected(lua, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  if (push_real_table(lua, 1)) return raise_read_only(lua);
  if (luaL_getmetafield(lua, 1, "__metatable") != LUA_TNIL) {
    return luaL_error(lua, "cannot change a protected metatable");
  }
  lua_settop(lua, 2);
  if (type == LUA_TTABLE) guard_metatable(lua, 2);
  if (has_guard(lua, 1)) {
    return luaL_error(lua, "a metatable cannot have one itself in scripts here");
  }
  lua_settop(lua, 2);
  lua_setmetatable(lua, 1);
  return 1;
}

// redis.call raises {err = text}; Redis's pcall hands out the bare text, and scripts count on it.
void flatten_error(lua_State* lua) {
  if (lua_type(lua, -1) != LUA_TTABLE) return;
  lua_pushliteral(lua, "err");
  if (lua_rawget(lua, -2) == LUA_TSTRING) {
    lua_remove(lua, -2);
  } else {
    lua_pop(lua, 1);
  }
}

int finish_protected_call(lua_State* lua, int status, lua_KContext) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(lua);
  flatten_error(lua);
  lua_pushboolean(lua, 0);
  lua_insert(lua, -2);
  return 2;
}

int protected_call(lua_State* lua) {
  luaL_checkany(lua, 1);
  lua_pushboolean(lua, 1);
  lua_insert(lua, 1);
  const int status =
      lua_pcallk(lua, lua_gettop(lua) - 2, LUA_MULTRET, 0, 0, &finish_protected_call);
  return finish_protected_call(lua, status, 0);
}

int finish_handler(lua_State*, int, lua_KContext) {
  return 2;
}

// Stack: the function, the handler, true, and what the call left.
int finish_handled_call(lua_State* lua, int status, lua_KContext) {
  constexpr int kHandler = 2;
  constexpr int kSuccess = 3;
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(lua) - kHandler;
  lua_pushboolean(lua, 0);
  lua_replace(lua, kSuccess);
  lua_pushvalue(lua, kHandler);
  lua_insert(lua, -2);
  lua_pcallk(lua, 1, 1, 0, 0, &finish_handler);
  return 2;
}

// Lua's xpcall runs the handler in the place of the error, which for the time limit's error is
// inside the hook, where no hook could end it again. Ours runs it afterwards: without the debug
// library a script cannot tell.
int handled_call(lua_State* lua) {
  luaL_checkany(lua, 2);
  const int argument_count = lua_gettop(lua) - 2;
  lua_pushboolean(lua, 1);
  lua_pushvalue(lua, 1);
  lua_rotate(lua, 3, 2);
  const int status = lua_pcallk(lua, argument_count, LUA_MULTRET, 0, 0, &finish_handled_call);
  return finish_handled_call(lua, status, 0);
}

// Replaces the reader function at index 1 by what it reads.
void read_pieces(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TFUNCTION);
  luaL_Buffer buffer;
  luaL_buffinit(lua, &buffer);
  while (luaL_bufflen(&buffer) <= script_context(lua).script_bytes_max) {
    stop_if_aborted(lua);
    lua_pushvalue(lua, 1);
    lua_call(lua, 0, 1);
    const bool is_end =
        lua_isnil(lua, -1) || (lua_type(lua, -1) == LUA_TSTRING && lua_rawlen(lua, -1) == 0);
    if (is_end) {
      lua_pop(lua, 1);
      break;
    }
    if (lua_isstring(lua, -1) == 0) luaL_error(lua, "reader function must return a string");
    luaL_addvalue(&buffer);
  }
  luaL_pushresult(&buffer);
  lua_replace(lua, 1);
}

// load(chunk, name, mode, environment). Text only, whatever the mode: bytecode is not verified, and
// can crash the machine.
int load(lua_State* lua) {
  stop_if_aborted(lua);
  lua_settop(lua, lua_gettop(lua) < 4 ? 3 : 4);
  const bool has_environment = lua_gettop(lua) == 4;
  const char* name = "=(load)";
  if (lua_isstring(lua, 1) != 0) {
    name = luaL_optstring(lua, 2, lua_tostring(lua, 1));
  } else {
    name = luaL_optstring(lua, 2, name);
    read_pieces(lua);
  }
  std::size_t bytes = 0;
  const char* const text = lua_tolstring(lua, 1, &bytes);
  if (bytes > script_context(lua).script_bytes_max) {
    luaL_pushfail(lua);
    lua_pushliteral(lua, "the chunk is longer than script-size-limit allows");
    return 2;
  }
  if (load_source(lua, {text, bytes}, name) != LUA_OK) {
    stop_if_aborted(lua);
    luaL_pushfail(lua);
    lua_insert(lua, -2);
    return 2;
  }
  if (has_environment) {
    lua_pushvalue(lua, 4);
    lua_setupvalue(lua, -2, 1);
  }
  return 1;
}

// A float as in Lua 5.1: "5", where Lua 5.4 says "5.0".
int to_string(lua_State* lua) {
  luaL_checkany(lua, 1);
  write_float(lua, 1);
  luaL_tolstring(lua, 1, nullptr);
  return 1;
}

int memory_in_use(lua_State* lua) {
  lua_pushinteger(lua, lua_gc(lua, LUA_GCCOUNT));
  return 1;
}

// Tells the memory in use; leaves the collector alone, which belongs to the engine.
int collect_garbage(lua_State* lua) {
  static const char* const kOptions[] = {"collect",      "stop",        "restart",    "count",
                                         "step",         "setpause",    "setstepmul", "isrunning",
                                         "generational", "incremental", nullptr};
  constexpr int kCount = 3;
  if (luaL_checkoption(lua, 1, "collect", kOptions) == kCount) {
    constexpr double kKilobyte = 1024;
    lua_pushnumber(lua, lua_gc(lua, LUA_GCCOUNT) + lua_gc(lua, LUA_GCCOUNTB) / kKilobyte);
  } else {
    lua_pushinteger(lua, 0);
  }
  return 1;
}

}  // namespace

void open_base_library(lua_State* lua) {
  push_original(lua, &luaopen_base, "_G");
  copy_fields(lua, -1, -2,
              {"assert", "error", "ipairs", "rawequal", "select", "tonumber", "type", "_VERSION"});
  lua_pop(lua, 1);
  static const luaL_Reg kFunctions[] = {{"collectgarbage", &collect_garbage},
                                        {"gcinfo", &memory_in_use},
                                        {"getmetatable", &get_metatable},
                                        {"load", &load},
                                        {"loadstring", &load},
                                        {"next", &next},
                                        {"pairs", &pairs},
                                        {"pcall", &protected_call},
                                        {"rawget", &raw_get},
                                        {"rawset", &raw_set},
                                        {"setmetatable", &set_metatable},
                                        {"tostring", &to_string},
                                        {"xpcall", &handled_call},
                                        {nullptr, nullptr}};
  luaL_setfuncs(lua, kFunctions, 0);
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, &set_new_field);
  lua_setfield(lua, -2, "__newindex");
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kMetatableGuard);
}

}  // namespace redlock::lua
