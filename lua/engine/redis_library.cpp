// redis: the script's way to the node, with Redis's error texts.
#include "lua/engine/redis_library.h"

#include "lua/engine/reply_conversion.h"
#include "lua/engine/script_host.h"
#include "lua/library/number_text.h"
#include "lua/library/sandbox.h"
#include "lua/library/script_context.h"
#include "lua/library/word_tables.h"
#include "lua/scripts/sha1_text.h"
#include "protocol/resp/limits.h"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace redlock::lua {
namespace {

using protocol::Reply;
using protocol::Version;

// Commands of up to so many words have their numbers written on the C++ stack.
constexpr std::size_t kNumbersInPlace = 16;

std::string_view text_at(lua_State* lua, int index) {
  std::size_t bytes = 0;
  const char* const text = lua_tolstring(lua, index, &bytes);
  return {text, bytes};
}

int raise_text(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
  return lua_error(lua);
}

// The words of one command. Strings are views of the arguments on Lua's stack.
class Words {
 public:
  explicit Words(lua_State* lua) : lua_(lua), words_(script_context(lua).words) {}

  // So many arguments. False if one is neither string nor number. May raise a Lua error, for lack
  // of memory.
  bool read(int count) {
    words_.clear();
    for (int i = 1; i <= count; ++i) {
      const int type = lua_type(lua_, i);
      if (type != LUA_TSTRING && type != LUA_TNUMBER) return false;
      words_.push_back(type == LUA_TSTRING ? text_at(lua_, i) : number(i));
    }
    return true;
  }

  protocol::Request request() const { return words_; }

 private:
  std::string_view number(int index) {
    NumberBuffer spare;
    const bool has_place = numbers_used_ < numbers_.size();
    NumberBuffer& buffer = has_place ? numbers_[numbers_used_++] : spare;
    const std::string_view text =
        lua_isinteger(lua_, index) != 0
            ? number_text(std::int64_t{lua_tointeger(lua_, index)}, buffer)
            : number_text(lua_tonumber(lua_, index), buffer);
    if (has_place) return text;
    lua_pushlstring(lua_, text.data(), text.size());
    lua_replace(lua_, index);
    return text_at(lua_, index);
  }

  lua_State* lua_;
  std::vector<std::string_view>& words_;
  std::array<NumberBuffer, kNumbersInPlace> numbers_;
  std::size_t numbers_used_ = 0;
};

// Pushes the answer; false if it is an error.
bool run_command(lua_State* lua) {
  stop_if_aborted(lua);
  const int count = lua_gettop(lua);
  if (count == 0) {
    push_error_table(lua, "ERR Please specify at least one argument for this redis lib call");
    return false;
  }
  if (count > protocol::kWordsMax) {
    push_error_table(lua, fmt::format("ERR a command has {} words at most", protocol::kWordsMax));
    return false;
  }
  Words words(lua);
  if (!words.read(count)) {
    push_error_table(lua, "ERR Lua redis lib command arguments must be strings or integers");
    return false;
  }
  ScriptContext& context = script_context(lua);
  const Reply reply = context.host->call(words.request());
  const bool is_arg = reply.is(Reply::Kind::bulk) && context.args->push_word(lua, reply.text());
  if (!is_arg) push_reply(lua, reply, context.version);
  return !reply.is_error();
}

int call(lua_State* lua) {
  return run_command(lua) ? 1 : lua_error(lua);
}

int protected_call(lua_State* lua) {
  run_command(lua);
  return 1;
}

int error_reply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
    push_error_table(lua, "ERR wrong number or type of arguments");
    return 1;
  }
  std::string_view text = text_at(lua, 1);
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool has_code = text.find(' ') != std::string_view::npos;
  lua_pushstring(lua, has_code ? "" : "ERR ");
  lua_pushlstring(lua, text.data(), text.size());
  lua_concat(lua, 2);
  lua_createtable(lua, 0, 1);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, "err");
  return 1;
}

int status_reply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
    push_error_table(lua, "ERR wrong number or type of arguments");
    return 1;
  }
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "ok");
  return 1;
}

int sha1_hex(lua_State* lua) {
  stop_if_aborted(lua);
  if (lua_gettop(lua) != 1) return raise_text(lua, "wrong number of arguments");
  const std::string digits = sha1_text(text_at(lua, 1));  // what is no text counts as empty
  lua_pushlstring(lua, digits.data(), digits.size());
  return 1;
}

// redis.log(level, …): the words in one line; what is no text is left out.
int log(lua_State* lua) {
  stop_if_aborted(lua);
  const int count = lua_gettop(lua);
  if (count < 2) return raise_text(lua, "redis.log() requires two arguments or more.");
  if (lua_isnumber(lua, 1) == 0) {
    return raise_text(lua, "First argument must be a number (log level).");
  }
  const lua_Number level = lua_tonumber(lua, 1);
  constexpr auto kLast = static_cast<lua_Number>(LogLevel::warning);
  if (!(level >= 0 && level <= kLast)) return raise_text(lua, "Invalid debug level.");
  luaL_Buffer line;
  luaL_buffinit(lua, &line);
  for (int i = 2; i <= count; ++i) {
    if (lua_isstring(lua, i) == 0) continue;
    if (i > 2) luaL_addchar(&line, ' ');
    lua_pushvalue(lua, i);
    luaL_addvalue(&line);
  }
  luaL_pushresult(&line);
  script_context(lua).host->log(static_cast<LogLevel>(static_cast<int>(level)), text_at(lua, -1));
  return 0;
}

int set_resp(lua_State* lua) {
  if (lua_gettop(lua) != 1) return raise_text(lua, "redis.setresp() requires one argument.");
  const lua_Number version = lua_tonumber(lua, 1);
  if (version != 2 && version != 3) return raise_text(lua, "RESP version must be 2 or 3.");
  script_context(lua).version = version == 3 ? Version::resp3 : Version::resp2;
  return 0;
}

// A node replicates to nobody: what older scripts ask for is granted, and does nothing.
int replicate_commands(lua_State* lua) {
  lua_pushboolean(lua, 1);
  return 1;
}

int set_repl(lua_State* lua) {
  if (lua_gettop(lua) != 1) return raise_text(lua, "redis.set_repl() requires two arguments.");
  constexpr lua_Integer kAll = 3;
  const lua_Number flags = lua_tonumber(lua, 1);
  if (!(flags >= 0 && flags <= kAll)) {
    return raise_text(lua,
                      "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or "
                      "REPL_NONE.");
  }
  return 0;
}

// Without the debugger these do nothing in Redis either.
int breakpoint(lua_State* lua) {
  lua_pushboolean(lua, 0);
  return 1;
}

int debug(lua_State*) {
  return 0;
}

// "7.2.4" is 0x00070204.
lua_Integer version_number(std::string_view version) {
  lua_Integer number = 0;
  for (int part = 0; part < 3; ++part) {
    int value = 0;
    const char* const end = version.data() + version.size();
    const char* const stop = std::from_chars(version.data(), end, value).ptr;
    version.remove_prefix(static_cast<std::size_t>(stop - version.data()));
    if (version.starts_with('.')) version.remove_prefix(1);
    number = number << 8 | value;
  }
  return number;
}

void set_number(lua_State* lua, const char* name, lua_Integer number) {
  lua_pushinteger(lua, number);
  lua_setfield(lua, -2, name);
}

void set_constants(lua_State* lua) {
  const std::string& version = script_context(lua).redis_version;
  lua_pushlstring(lua, version.data(), version.size());
  lua_setfield(lua, -2, "REDIS_VERSION");
  set_number(lua, "REDIS_VERSION_NUM", version_number(version));
  set_number(lua, "LOG_DEBUG", static_cast<lua_Integer>(LogLevel::debug));
  set_number(lua, "LOG_VERBOSE", static_cast<lua_Integer>(LogLevel::verbose));
  set_number(lua, "LOG_NOTICE", static_cast<lua_Integer>(LogLevel::notice));
  set_number(lua, "LOG_WARNING", static_cast<lua_Integer>(LogLevel::warning));
  set_number(lua, "REPL_NONE", 0);
  set_number(lua, "REPL_AOF", 1);
  set_number(lua, "REPL_SLAVE", 2);
  set_number(lua, "REPL_REPLICA", 2);
  set_number(lua, "REPL_ALL", 3);
}

}  // namespace

void open_redis_library(lua_State* lua) {
  static const luaL_Reg kFunctions[] = {{"breakpoint", &breakpoint},
                                        {"call", &call},
                                        {"debug", &debug},
                                        {"error_reply", &error_reply},
                                        {"log", &log},
                                        {"pcall", &protected_call},
                                        {"replicate_commands", &replicate_commands},
                                        {"set_repl", &set_repl},
                                        {"setresp", &set_resp},
                                        {"sha1hex", &sha1_hex},
                                        {"status_reply", &status_reply},
                                        {nullptr, nullptr}};
  luaL_newlib(lua, kFunctions);
  set_constants(lua);
}

}  // namespace redlock::lua
