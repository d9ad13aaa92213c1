// Replies to Lua values and back, by Redis's rules
// (https://redis.io/docs/latest/develop/interact/programmability/lua-api/#data-type-conversion).
//
//   reply                    Lua, RESP2                       Lua, RESP3 (after redis.setresp(3))
//   integer                  integer                          integer
//   bulk                     string                           string
//   status                   {ok = text}                      {ok = text}
//   error                    {err = text}                     {err = text}
//   null                     false                            nil
//   array, push              table                            table
//   map                      table: key, value, key …         {map = {key = value}}
//   set                      table                            {set = {member = true}}
//   boolean                  1 or 0                           true or false
//   real                     string                           {double = number}
//   big number               string                           {big_number = string}
//   verbatim                 string                           {verbatim_string = {format=,
//   string=}}
//
// The way back takes the shapes of the right column in either version, and: a number is truncated;
// an array ends at its first nil; true is 1 and false null, or a boolean after setresp(3); what has
// no shape (a function) is null.
#pragma once

#include "protocol/resp/reply.h"
#include "protocol/resp/reply_writer.h"

#include <lua.hpp>

namespace redlock::lua {

// Pushes one value. The reply's text is copied, so views need not live on. May raise a Lua error.
void push_reply(lua_State* lua, const protocol::Reply& reply, protocol::Version version);

// Pushes {err = text}.
void push_error_table(lua_State* lua, std::string_view text);

// The value at the index; owns its text. Calls no metamethods and raises no Lua error. Beyond the
// limits (limits.h) it is an error reply instead: a table can contain itself.
protocol::Reply to_reply(lua_State* lua, int index, protocol::Version version);

}  // namespace redlock::lua
