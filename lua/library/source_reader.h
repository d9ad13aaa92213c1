// Compiles Lua's text in small pieces, and looks between them whether the script was aborted.
//
// The time that Lua's compiler takes can grow with the square of the text's length: each `elseif`
// adds to a list that is walked for the next one.
#pragma once

#include <string_view>

#include <lua.hpp>

namespace redlock::lua {

// As luaL_loadbufferx, of text alone: bytecode is not verified, and can crash the machine. Leaves
// the function, or an error's text, on the stack.
int load_source(lua_State* lua, std::string_view source, const char* name);

}  // namespace redlock::lua
