#include "lua/library/protected_table.h"

namespace redlock::lua {
namespace {

// In the metatable of a stand-in: the real table.
constexpr char kRealTableKey = 0;

int refuse_assignment(lua_State* lua) {
  return luaL_error(lua, "Attempt to modify a readonly table");
}

}  // namespace

void protect_table(lua_State* lua) {
  lua_newtable(lua);
  lua_createtable(lua, 0, 4);
  lua_pushvalue(lua, -3);
  lua_rawsetp(lua, -2, &kRealTableKey);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, &refuse_assignment);
  lua_setfield(lua, -2, "__newindex");
  lua_setmetatable(lua, -2);
  lua_remove(lua, -2);
}

bool push_real_table(lua_State* lua, int index) {
  if (lua_getmetatable(lua, index) == 0) return false;
  if (lua_rawgetp(lua, -1, &kRealTableKey) == LUA_TTABLE) {
    lua_remove(lua, -2);
    return true;
  }
  lua_pop(lua, 2);
  return false;
}

int raise_read_only(lua_State* lua) {
  lua_pushliteral(lua, "Attempt to modify a readonly table");
  return lua_error(lua);
}

}  // namespace redlock::lua
