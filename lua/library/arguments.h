// Numbers as arguments of library functions, taken as Lua 5.1 takes them: where an integer is
// wanted, a fraction is cut off. Lua 5.4's own functions refuse it, and scripts that were written
// for Redis divide without a thought: string.format('%d', 10 / 4) is "2".
#pragma once

#include <string_view>

#include <lua.hpp>

namespace redlock::lua {

// As a cast in C, but an error where the number has no place in 64 bits.
lua_Integer checked_integer(lua_State* lua, int argument);
// `otherwise` where there is none, or nil.
lua_Integer optional_integer(lua_State* lua, int argument, lua_Integer otherwise);
// Replaces the argument, if there is one, by the integer that it is taken for.
void truncate_argument(lua_State* lua, int argument);

// The argument as text, as long as it stays on the stack; an error if it is no string or number.
std::string_view checked_text(lua_State* lua, int argument);

// Whether the argument is a number, or text that is one: that is replaced by the number, as it may
// be long, and is read once so.
bool read_number(lua_State* lua, int argument);

// Replaces a float by its text in Lua 5.1, "5" and not "5.0"; leaves all else.
void write_float(lua_State* lua, int index);

}  // namespace redlock::lua
