// Read-only tables. Lua has none: a script gets an empty table instead, whose metatable reads from
// the real one and refuses writes. The functions that pass metatables by (next, rawget, rawset,
// setmetatable …) are replaced by ones that know such tables (base_library.cpp).
#pragma once

#include <lua.hpp>

namespace redlock::lua {

// Replaces the table on top of the stack by its read-only stand-in.
void protect_table(lua_State* lua);

// If the value at the index is such a stand-in, pushes the real table,
// which must never reach a script.
bool push_real_table(lua_State* lua, int index);

// Raises Redis's error for a write to one. Does not return.
int raise_read_only(lua_State* lua);

}  // namespace redlock::lua
