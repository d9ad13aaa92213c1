// The world that a script sees.
//
//   base    assert error getmetatable ipairs load loadstring next pairs pcall rawequal rawget
//   rawset
//           select setmetatable tonumber tostring type unpack xpcall collectgarbage gcinfo _VERSION
//           _G
//   string  byte char find format gfind gmatch gsub len lower match rep reverse sub upper
//   table   concat foreach foreachi getn insert maxn pack remove setn sort unpack
//   math    Lua 5.1's, with max and min that take numeric strings and a random that starts anew for
//           each script; maxinteger, mininteger, tointeger, type of Lua 5.4
//   bit     as LuaBitOp
//   redis   also as `server`
//
// The names are those of Redis 7, so Lua 5.1's, on top of Lua 5.4; what Redis has beyond them is
// missing: coroutine (hooks, which end endless scripts, are per coroutine), cjson, cmsgpack,
// struct, string.dump. Globals and library tables are read-only; a global that is not there
// is an error.
#pragma once

#include <initializer_list>

#include <lua.hpp>

namespace redlock::lua {

// Pushes a library's table.
using LibraryOpener = void (*)(lua_State* lua);

// Opens it in a fresh state: the registry's globals are the script's. `open_redis` opens the
// library that is there for scripts to call commands with. REQUIRES: the script context is in the
// extra space.
void open_sandbox(lua_State* lua, LibraryOpener open_redis);

// Pushes the real table of globals, for the interpreter to set KEYS and ARGV in.
void push_globals(lua_State* lua);

// Pushes the globals of a script that cannot change a table (script_words.h): the few that it can
// name, with the real `redis`. Other scripts find globals and libraries behind read-only stand-ins,
// which takes two lookups for each name instead of one.
void push_plain_globals(lua_State* lua);

// What follows is for the libraries' own files. Each opener pushes one table; open_base_library
// adds to the globals on top of the stack.
void open_base_library(lua_State* lua);
void open_string_library(lua_State* lua);
void set_pattern_functions(lua_State* lua);  // of the table of strings on top of the stack
void open_table_library(lua_State* lua);
void open_math_library(lua_State* lua);
void open_bit_library(lua_State* lua);

// Pushes the table of one of Lua's own libraries.
void push_original(lua_State* lua, lua_CFunction opener, const char* name);

// Copies fields from the table at `from` to the one at `to`.
void copy_fields(lua_State* lua, int from, int to, std::initializer_list<const char*> names);

// Sets in the table at `to` a function that guards the one of the table at `from`: the guard looks
// at the arguments, then ends with call_original().
void set_guarded(lua_State* lua, int from, int to, const char* name, lua_CFunction guard);
int call_original(lua_State* lua);

}  // namespace redlock::lua
