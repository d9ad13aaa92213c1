// string.find, match, gmatch and gsub, over PatternMatch.
//
// They do what Redis's Lua 5.1 does where Lua 5.4 does otherwise: a match of nothing counts right
// behind one that took something, ("abc"):gsub("%w*", "x") is "xx"; a start behind the end is the
// end; gsub takes a '%' before what is no digit for an escape.
#include "lua/library/arguments.h"
#include "lua/library/pattern_match.h"
#include "lua/library/sandbox.h"
#include "lua/library/script_context.h"

#include <algorithm>
#include <cstring>

namespace redlock::lua {
namespace {

// A search of so many comparisons at most takes the simple way, which is faster on short texts.
constexpr std::size_t kShortSearch = 64 * 1024;

// Whether string.find takes the text as it stands: strpbrk reads up to a zero byte.
bool has_special(std::string_view pattern) {
  for (std::size_t at = 0; at <= pattern.size(); at += std::strlen(pattern.data() + at) + 1) {
    if (std::strpbrk(pattern.data() + at, "^$*+?.([%-") != nullptr) return true;
  }
  return false;
}

// The offset that the argument's position, from 1, or from the end if it is negative, stands for.
std::size_t start_offset(lua_State* lua, int argument, std::size_t subject_bytes) {
  const lua_Integer position = optional_integer(lua, argument, 1);
  const auto bytes = static_cast<lua_Integer>(subject_bytes);
  const lua_Integer offset = position < 0 ? position + bytes : position - 1;
  return static_cast<std::size_t>(std::clamp<lua_Integer>(offset, 0, bytes));
}

int push_not_found(lua_State* lua) {
  lua_pushnil(lua);
  return 1;
}

// In a time that grows as both lengths do, whatever the texts.
std::size_t offset_of(std::string_view subject, std::string_view text, std::size_t start) {
  if (text.size() <= kShortSearch / (subject.size() + 1)) return subject.find(text, start);
  const void* const found =
      memmem(subject.data() + start, subject.size() - start, text.data(), text.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - subject.data());
}

int search(lua_State* lua, std::string_view subject, std::string_view text, std::size_t start) {
  const std::size_t place = offset_of(subject, text, start);
  if (place == std::string_view::npos) return push_not_found(lua);
  const auto at = static_cast<lua_Integer>(place);
  lua_pushinteger(lua, at + 1);
  lua_pushinteger(lua, at + static_cast<lua_Integer>(text.size()));
  return 2;
}

// Takes a '^' at the front, which alone may match, off the pattern.
bool take_anchor(std::string_view& pattern) {
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  return is_anchored;
}

int match_first(lua_State* lua, std::string_view subject, std::string_view pattern,
                std::size_t start, bool tells_place) {
  const bool is_anchored = take_anchor(pattern);
  PatternMatch match(lua, subject, pattern);
  const char* const end_of_subject = subject.data() + subject.size();
  for (const char* begin = subject.data() + start;; ++begin) {
    if (const char* const end = match.at(begin)) {
      if (!tells_place) return match.push_captures(begin, end);
      lua_pushinteger(lua, begin - subject.data() + 1);
      lua_pushinteger(lua, end - subject.data());
      return 2 + (match.has_captures() ? match.push_captures(begin, end) : 0);
    }
    if (is_anchored || begin == end_of_subject) return push_not_found(lua);
  }
}

int find(lua_State* lua) {
  stop_if_aborted(lua);
  const std::string_view subject = checked_text(lua, 1);
  const std::string_view pattern = checked_text(lua, 2);
  const std::size_t start = start_offset(lua, 3, subject.size());
  const bool is_plain = lua_toboolean(lua, 4) != 0 || !has_special(pattern);
  return is_plain ? search(lua, subject, pattern, start)
                  : match_first(lua, subject, pattern, start, true);
}

int match(lua_State* lua) {
  stop_if_aborted(lua);
  const std::string_view subject = checked_text(lua, 1);
  const std::string_view pattern = checked_text(lua, 2);
  return match_first(lua, subject, pattern, start_offset(lua, 3, subject.size()), false);
}

// The iterator of gmatch. Its upvalues: subject, pattern, and the offset to go on from.
int match_next(lua_State* lua) {
  stop_if_aborted(lua);
  const std::string_view subject = checked_text(lua, lua_upvalueindex(1));
  const auto offset = static_cast<std::size_t>(lua_tointeger(lua, lua_upvalueindex(3)));
  PatternMatch match(lua, subject, checked_text(lua, lua_upvalueindex(2)));
  for (std::size_t at = offset; at <= subject.size(); ++at) {
    const char* const begin = subject.data() + at;
    const char* const end = match.at(begin);
    if (end == nullptr) continue;
    lua_pushinteger(lua, end - subject.data() + (end == begin ? 1 : 0));
    lua_replace(lua, lua_upvalueindex(3));
    return match.push_captures(begin, end);
  }
  return 0;
}

// A '^' is a character like any other in it.
int match_all(lua_State* lua) {
  stop_if_aborted(lua);
  checked_text(lua, 1);
  checked_text(lua, 2);
  lua_settop(lua, 2);
  lua_pushinteger(lua, 0);
  lua_pushcclosure(lua, &match_next, 3);
  return 1;
}

constexpr int kReplacement = 3;

// Adds to the buffer what takes the place of one match: of a table's value, or a function's result,
// nil and false leave the match as it is.
void replace(lua_State* lua, luaL_Buffer& buffer, const PatternMatch& match, const char* begin,
             const char* end) {
  stop_if_aborted(lua);  // a look into a table may take its time, by a chain of __index
  if (lua_type(lua, kReplacement) == LUA_TTABLE) {
    match.push_capture(0, begin, end);
    lua_gettable(lua, kReplacement);
  } else {
    lua_pushvalue(lua, kReplacement);
    lua_call(lua, match.push_captures(begin, end), 1);
  }
  if (lua_toboolean(lua, -1) == 0) {
    lua_pop(lua, 1);
    return luaL_addlstring(&buffer, begin, static_cast<std::size_t>(end - begin));
  }
  if (lua_isstring(lua, -1) == 0) {
    luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
  }
  write_float(lua, -1);
  luaL_addvalue(&buffer);
}

bool replaces_by_text(lua_State* lua) {
  const int type = lua_type(lua, kReplacement);
  const bool is_text = type == LUA_TSTRING || type == LUA_TNUMBER;
  luaL_argexpected(lua, is_text || type == LUA_TTABLE || type == LUA_TFUNCTION, kReplacement,
                   "string/function/table");
  if (is_text) write_float(lua, kReplacement);
  return is_text;
}

int substitute(lua_State* lua) {
  stop_if_aborted(lua);
  const std::string_view subject = checked_text(lua, 1);
  std::string_view pattern = checked_text(lua, 2);
  const bool by_text = replaces_by_text(lua);
  const std::string_view text = by_text ? checked_text(lua, kReplacement) : std::string_view();
  const lua_Integer count_max =
      optional_integer(lua, 4, static_cast<lua_Integer>(subject.size()) + 1);
  const bool is_anchored = take_anchor(pattern);
  PatternMatch match(lua, subject, pattern);
  luaL_Buffer buffer;
  luaL_buffinit(lua, &buffer);
  const char* begin = subject.data();
  const char* const end_of_subject = begin + subject.size();
  lua_Integer count = 0;
  while (count < count_max) {
    match.step();  // an empty pattern has none
    const char* const end = match.at(begin);
    if (end != nullptr) {
      ++count;
      by_text ? match.add_replacement(buffer, text, begin, end)
              : replace(lua, buffer, match, begin, end);
    }
    if (end != nullptr && end > begin) {
      begin = end;
    } else if (begin < end_of_subject) {
      luaL_addchar(&buffer, *begin++);
    } else {
      break;
    }
    if (is_anchored) break;
  }
  luaL_addlstring(&buffer, begin, static_cast<std::size_t>(end_of_subject - begin));
  luaL_pushresult(&buffer);
  lua_pushinteger(lua, count);
  return 2;
}

}  // namespace

void set_pattern_functions(lua_State* lua) {
  static const luaL_Reg kFunctions[] = {{"find", &find},        {"gfind", &match_all},
                                        {"gmatch", &match_all}, {"gsub", &substitute},
                                        {"match", &match},      {nullptr, nullptr}};
  luaL_setfuncs(lua, kFunctions, 0);
}

}  // namespace redlock::lua
