// The library `redis` of scripts: redis.call and pcall, error_reply, sha1hex, log and the rest.
#pragma once

#include <lua.hpp>

namespace redlock::lua {

// Pushes its table (library/sandbox.h).
void open_redis_library(lua_State* lua);

}  // namespace redlock::lua
