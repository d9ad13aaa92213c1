#include "lua/scripts/script_words.h"

#include <catch2/catch.hpp>

using namespace redlock::lua;

TEST_CASE("scripts that release a lock, and extend it, cannot change a table") {
  for (
      const char* script :
      {R"(if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end)",
       "if redis.call('get',KEYS[1]) == ARGV[1] then\n return "
       "redis.call('pexpire',KEYS[1],ARGV[2])\nend",
       "return redis.pcall('get', KEYS[1]) ~= false and tonumber(ARGV[1]) >= 0x10", ""}) {
    CAPTURE(script);
    CHECK(cannot_change_tables(script));
  }
}

TEST_CASE("a script with an assignment, another name or a doubt may change one") {
  for (const char* script :
       {"KEYS[1] = 1", "local k = KEYS", "KEYS.x, KEYS.y=1, 2", "table.remove(KEYS)",
        "rawset(KEYS, 1, 2)", "setmetatable(ARGV, ARGV)", "function KEYS.f() end",
        "for k in pairs(_G) do end", "return load('KEYS.x = 1')()", "return ('x'):rep(3)",
        "_ENV.KEYS[1] = nil", "return 1 --[[", "return [[x]]",
        "redis.call('get', [==[']==]) KEYS.x = 1 return [==[']==]", "return 'it\\'s'",
        "return 'open", "--\nreturn 1"}) {
    CAPTURE(script);
    CHECK_FALSE(cannot_change_tables(script));
  }
}
