#include "lua/library/sandbox.h"

#include "lua/library/protected_table.h"

namespace redlock::lua {
namespace {

constexpr char kGlobalsKey = 0;
constexpr char kPlainGlobalsKey = 0;

int refuse_unknown_global(lua_State* lua) {
  const char* const name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", name);
}

void set_library(lua_State* lua, const char* name, LibraryOpener open) {
  open(lua);
  protect_table(lua);
  lua_setfield(lua, -2, name);
}

// From the globals on top of the stack.
void make_plain_globals(lua_State* lua) {
  lua_newtable(lua);
  copy_fields(lua, -2, -1, {"pcall", "tonumber", "tostring"});
  lua_getfield(lua, -2, "redis");
  push_real_table(lua, -1);
  lua_remove(lua, -2);
  lua_pushvalue(lua, -1);
  lua_setfield(lua, -3, "server");
  lua_setfield(lua, -2, "redis");
  lua_getmetatable(lua, -2);
  lua_setmetatable(lua, -2);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kPlainGlobalsKey);
}

}  // namespace

void push_original(lua_State* lua, lua_CFunction opener, const char* name) {
  lua_pushcfunction(lua, opener);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 1);
}

void copy_fields(lua_State* lua, int from, int to, std::initializer_list<const char*> names) {
  const int source = lua_absindex(lua, from);
  const int target = lua_absindex(lua, to);
  for (const char* name : names) {
    lua_getfield(lua, source, name);
    lua_setfield(lua, target, name);
  }
}

void set_guarded(lua_State* lua, int from, int to, const char* name, lua_CFunction guard) {
  const int target = lua_absindex(lua, to);
  lua_getfield(lua, from, name);
  lua_pushcclosure(lua, guard, 1);
  lua_setfield(lua, target, name);
}

int call_original(lua_State* lua) {
  return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

void push_globals(lua_State* lua) {
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &kGlobalsKey);
}

void push_plain_globals(lua_State* lua) {
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &kPlainGlobalsKey);
}

void open_sandbox(lua_State* lua, LibraryOpener open_redis) {
  lua_newtable(lua);
  open_base_library(lua);
  set_library(lua, "string", &open_string_library);
  set_library(lua, "table", &open_table_library);
  set_library(lua, "math", &open_math_library);
  set_library(lua, "bit", &open_bit_library);
  set_library(lua, "redis", open_redis);
  lua_getfield(lua, -1, "redis");
  lua_setfield(lua, -2, "server");
  lua_getfield(lua, -1, "table");
  lua_getfield(lua, -1, "unpack");
  lua_setfield(lua, -3, "unpack");
  lua_pop(lua, 1);

  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, &refuse_unknown_global);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
  make_plain_globals(lua);

  lua_pushvalue(lua, -1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kGlobalsKey);
  lua_pushvalue(lua, -1);
  protect_table(lua);
  lua_pushvalue(lua, -1);
  lua_setfield(lua, -3, "_G");
  lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushnil(lua);  // nothing of Lua's own libraries stays in reach
  lua_setfield(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_settop(lua, 0);
}

}  // namespace redlock::lua
