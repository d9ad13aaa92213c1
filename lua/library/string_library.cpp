// string: Lua's own, the functions that match patterns over a matcher of ours, and numbers taken as
// in Lua 5.1.
#include "lua/library/arguments.h"
#include "lua/library/limits.h"
#include "lua/library/sandbox.h"
#include "lua/library/script_context.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace redlock::lua {
namespace {

// byte(text, first, last) and sub().
int with_range(lua_State* lua) {
  truncate_argument(lua, 2);
  truncate_argument(lua, 3);
  return call_original(lua);
}

// char(code, …).
int with_codes(lua_State* lua) {
  for (int i = lua_gettop(lua); i > 0; --i) {
    stop_if_aborted(lua);
    truncate_argument(lua, i);
  }
  return call_original(lua);
}

// A string of no bytes can be repeated 2^63 times, which takes no memory but for ever.
int repeat(lua_State* lua) {
  stop_if_aborted(lua);
  const std::string_view text = checked_text(lua, 1);
  const lua_Integer count = checked_integer(lua, 2);
  if (count <= 0 || text.empty()) {
    lua_pushliteral(lua, "");
    return 1;
  }
  const std::size_t bytes_max = script_context(lua).string_bytes_max;
  if (static_cast<std::size_t>(count) > bytes_max / text.size()) {
    return luaL_error(lua, "resulting string too large");
  }
  const std::size_t bytes = text.size() * static_cast<std::size_t>(count);
  luaL_Buffer buffer;
  char* const begin = luaL_buffinitsize(lua, &buffer, bytes);
  std::memcpy(begin, text.data(), text.size());
  for (std::size_t done = text.size(); done < bytes;) {  // each time as much again
    const std::size_t more = std::min(done, bytes - done);
    std::memcpy(begin + done, begin, more);
    done += more;
  }
  luaL_pushresultsize(&buffer, bytes);
  return 1;
}

// What Lua's own writes in one call takes
// up to four microseconds each ("%.99e"): some milliseconds.
constexpr int kConversionsMax = 1000;

// Where an integer is to be written Lua 5.1 takes any number, writes 5.0 as "5", and knows %u.
int format(lua_State* lua) {
  stop_if_aborted(lua);
  const std::string_view text = checked_text(lua, 1);
  std::string without_u;
  int argument = 1;
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    at = text.find_first_not_of("-+ #0123456789.", at + 1);
    if (at == std::string_view::npos) break;
    if (text[at] == '%') continue;
    stop_if_aborted(lua);
    if (++argument > 1 + kConversionsMax) luaL_error(lua, "too many conversions for one call");
    if (text[at] == 's') write_float(lua, argument);
    if (text[at] == 's' || text[at] == 'q' || !read_number(lua, argument)) continue;
    if (std::string_view("cdiouxX").find(text[at]) == std::string_view::npos) continue;
    truncate_argument(lua, argument);
    if (text[at] != 'u') continue;
    if (without_u.empty()) without_u = text;
    without_u[at] = 'd';
  }
  if (!without_u.empty()) {
    lua_pushlstring(lua, without_u.data(), without_u.size());
    lua_replace(lua, 1);
  }
  return call_original(lua);
}

}  // namespace

void open_string_library(lua_State* lua) {
  lua_newtable(lua);
  set_pattern_functions(lua);
  lua_pushcfunction(lua, &repeat);
  lua_setfield(lua, -2, "rep");
  push_original(lua, &luaopen_string, LUA_STRLIBNAME);
  copy_fields(lua, -1, -2, {"len", "lower", "reverse", "upper"});
  const int library = lua_absindex(lua, -2);
  set_guarded(lua, -1, library, "byte", &with_range);
  set_guarded(lua, -1, library, "sub", &with_range);
  set_guarded(lua, -1, library, "char", &with_codes);
  set_guarded(lua, -1, library, "format", &format);
  lua_pop(lua, 1);

  // The metatable of all strings, for ("x"):rep(2) and "1" + 1, comes from luaopen_string.
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 2);
}

}  // namespace redlock::lua
