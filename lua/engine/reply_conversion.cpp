#include "lua/engine/reply_conversion.h"

#include "lua/library/limits.h"
#include "lua/library/number_text.h"
#include "protocol/resp/limits.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::lua {
namespace {

using protocol::Reply;
using protocol::Version;

void push_text(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

// Pushes {name = text}.
void push_named_text(lua_State* lua, const char* name, std::string_view text) {
  lua_createtable(lua, 0, 1);
  push_text(lua, text);
  lua_setfield(lua, -2, name);
}

// Replaces the value on top by {name = value}.
void wrap(lua_State* lua, const char* name) {
  lua_createtable(lua, 0, 1);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, name);
}

void push_array(lua_State* lua, const Reply& reply, Version version) {
  lua_createtable(lua, static_cast<int>(reply.items().size()), 0);
  lua_Integer index = 0;
  for (const Reply& item : reply.items()) {
    push_reply(lua, item, version);
    lua_rawseti(lua, -2, ++index);
  }
}

void push_map(lua_State* lua, const Reply& reply, Version version) {
  const std::vector<Reply>& items = reply.items();
  lua_createtable(lua, 0, static_cast<int>(items.size() / 2));
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    push_reply(lua, items[i], version);
    push_reply(lua, items[i + 1], version);
    lua_rawset(lua, -3);
  }
  wrap(lua, "map");
}

void push_set(lua_State* lua, const Reply& reply, Version version) {
  lua_createtable(lua, 0, static_cast<int>(reply.items().size()));
  for (const Reply& item : reply.items()) {
    push_reply(lua, item, version);
    lua_pushboolean(lua, 1);
    lua_rawset(lua, -3);
  }
  wrap(lua, "set");
}

void push_null(lua_State* lua, Version version) {
  if (version == Version::resp3) {
    lua_pushnil(lua);
  } else {
    lua_pushboolean(lua, 0);
  }
}

void push_real(lua_State* lua, double number, Version version) {
  if (version == Version::resp3) {
    lua_pushnumber(lua, number);
    return wrap(lua, "double");
  }
  NumberBuffer buffer;
  push_text(lua, number_text(number, buffer));
}

void push_verbatim(lua_State* lua, std::string_view text, Version version) {
  if (version == Version::resp2) return push_text(lua, text);
  push_named_text(lua, "string", text);
  push_text(lua, "txt");
  lua_setfield(lua, -2, "format");
  wrap(lua, "verbatim_string");
}

// Builds a reply and keeps count of what it takes.
class ReplyBuilder {
 public:
  ReplyBuilder(lua_State* lua, Version version) : lua_(lua), version_(version) {}

  Reply build(int index) {
    Reply reply = value(index);
    if (error_.empty()) return reply;
    return Reply::error_view(error_);
  }

 private:
  // Every one of these leaves the stack as it was. After an error what they return is not used.
  Reply value(int index) {
    if (++items_ > kReplyItemsMax || text_bytes_ > kReplyTextBytesMax) {
      return fail("ERR the reply of the script is too large");
    }
    switch (lua_type(lua_, index)) {
      case LUA_TSTRING:
        return Reply::bulk(text(index));
      case LUA_TNUMBER:
        return number(index);
      case LUA_TBOOLEAN:
        return boolean(lua_toboolean(lua_, index) != 0);
      case LUA_TTABLE:
        return nested_table(lua_absindex(lua_, index));
      default:
        return Reply::null();
    }
  }

  Reply fail(std::string_view error) {
    if (error_.empty()) error_ = error;
    return Reply::null();
  }

  std::string text(int index) {
    std::size_t bytes = 0;
    const char* const begin = lua_tolstring(lua_, index, &bytes);
    text_bytes_ += bytes;
    if (text_bytes_ > kReplyTextBytesMax) {
      fail("ERR the reply of the script is too large");
      return {};
    }
    return std::string(begin, bytes);
  }

  // What a cast to long long makes of it on the machines that Redis runs on: what does not fit is
  // the least integer.
  Reply number(int index) const {
    if (lua_isinteger(lua_, index) != 0) return Reply::integer(lua_tointeger(lua_, index));
    std::int64_t integer = std::numeric_limits<std::int64_t>::min();
    fits_int64(std::trunc(lua_tonumber(lua_, index)), &integer);
    return Reply::integer(integer);
  }

  Reply boolean(bool is_true) const {
    if (version_ == Version::resp3) return Reply::boolean(is_true);
    return is_true ? Reply::integer(1) : Reply::null();
  }

  Reply nested_table(int index) {
    constexpr int kSlotsPerLevel = 16;  // the fields that are looked for, and a pair of a map
    if (depth_ == protocol::kReplyDepthMax || lua_checkstack(lua_, kSlotsPerLevel) == 0) {
      return fail("ERR reached lua stack limit");
    }
    ++depth_;
    const int top = lua_gettop(lua_);
    Reply reply = table(index);
    lua_settop(lua_, top);
    --depth_;
    return reply;
  }

  // Redis's order of looking: the first name that is there decides.
  Reply table(int index) {
    if (field(index, "err") == LUA_TSTRING) return Reply::error(text(-1));
    if (field(index, "ok") == LUA_TSTRING) return Reply::status(text(-1));
    if (field(index, "double") == LUA_TNUMBER) return Reply::real(lua_tonumber(lua_, -1));
    if (field(index, "map") == LUA_TTABLE) return map(lua_gettop(lua_));
    if (field(index, "set") == LUA_TTABLE) return set(lua_gettop(lua_));
    if (field(index, "big_number") == LUA_TSTRING) return big_number();
    if (field(index, "verbatim_string") == LUA_TTABLE) {
      const int verbatim = lua_gettop(lua_);
      if (field(verbatim, "format") == LUA_TSTRING && field(verbatim, "string") == LUA_TSTRING) {
        return Reply::verbatim(text(-1));
      }
    }
    return array(index);
  }

  // Pushes the field. nested_table() clears what piles up so.
  int field(int index, const char* name) {
    lua_pushstring(lua_, name);
    return lua_rawget(lua_, index);
  }

  Reply big_number() {
    std::string digits = text(-1);
    for (char& digit : digits) {
      if (digit == '\r' || digit == '\n') digit = ' ';
    }
    return Reply::big_number(std::move(digits));
  }

  Reply array(int index) {
    std::vector<Reply> items;
    for (lua_Integer i = 1; lua_rawgeti(lua_, index, i) != LUA_TNIL && error_.empty(); ++i) {
      items.push_back(value(-1));
      lua_pop(lua_, 1);
    }
    return Reply::array(std::move(items));
  }

  Reply map(int index) {
    std::vector<Reply> items;
    lua_pushnil(lua_);
    while (error_.empty() && lua_next(lua_, index) != 0) {
      items.push_back(value(-2));
      items.push_back(value(-1));
      lua_pop(lua_, 1);
    }
    return Reply::map(std::move(items));
  }

  Reply set(int index) {
    std::vector<Reply> items;
    lua_pushnil(lua_);
    while (error_.empty() && lua_next(lua_, index) != 0) {
      lua_pop(lua_, 1);
      items.push_back(value(-1));
    }
    return Reply::set(std::move(items));
  }

  lua_State* lua_;
  Version version_;
  int depth_ = 0;
  std::size_t items_ = 0;
  std::size_t text_bytes_ = 0;
  std::string_view error_;  // a literal
};

}  // namespace

void push_error_table(lua_State* lua, std::string_view text) {
  push_named_text(lua, "err", text);
}

void push_reply(lua_State* lua, const Reply& reply, Version version) {
  constexpr int kSlotsPerLevel = 6;
  luaL_checkstack(lua, kSlotsPerLevel, "the reply is nested too deep");
  const bool is_resp3 = version == Version::resp3;
  switch (reply.kind()) {
    case Reply::Kind::integer:
      return lua_pushinteger(lua, reply.integer());
    case Reply::Kind::bulk:
      return push_text(lua, reply.text());
    case Reply::Kind::status:
      return push_named_text(lua, "ok", reply.text());
    case Reply::Kind::error:
      return push_error_table(lua, reply.text());
    case Reply::Kind::too_large:
      return push_error_table(lua, "ERR the reply is too large");
    case Reply::Kind::none:
    case Reply::Kind::later:
    case Reply::Kind::postponed:
    case Reply::Kind::null:
    case Reply::Kind::null_array:
      return push_null(lua, version);
    case Reply::Kind::boolean:
      if (is_resp3) return lua_pushboolean(lua, reply.integer() != 0 ? 1 : 0);
      return lua_pushinteger(lua, reply.integer());
    case Reply::Kind::real:
      return push_real(lua, reply.real(), version);
    case Reply::Kind::big_number:
      if (is_resp3) return push_named_text(lua, "big_number", reply.text());
      return push_text(lua, reply.text());
    case Reply::Kind::verbatim:
      return push_verbatim(lua, reply.text(), version);
    case Reply::Kind::map:
      if (is_resp3) return push_map(lua, reply, version);
      return push_array(lua, reply, version);
    case Reply::Kind::set:
      if (is_resp3) return push_set(lua, reply, version);
      return push_array(lua, reply, version);
    case Reply::Kind::array:
    case Reply::Kind::push:
    case Reply::Kind::sequence:
      return push_array(lua, reply, version);
  }
}

Reply to_reply(lua_State* lua, int index, Version version) {
  // What most scripts return: it needs no builder.
  if (lua_isinteger(lua, index) != 0) return Reply::integer(lua_tointeger(lua, index));
  return ReplyBuilder(lua, version).build(index);
}

}  // namespace redlock::lua
