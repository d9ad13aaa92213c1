// What was found in Redis's Lua scripting over the years, tried here: docs/security.md tells what
// each was. Under the sanitizers these tests also show what does not crash at once.
#include "tests/support/repeated.h"
#include "tests/unit/lua/script_fixture.h"

#include <catch2/catch.hpp>

namespace redlock::lua {
namespace {

using Catch::Contains;

}  // namespace

TEST_CASE("CVE-2014-5461: a function of many parameters and more arguments has its stack") {
  ScriptFixture script;
  std::string parameters;
  for (int i = 0; i < 190; ++i) parameters += "p" + std::to_string(i) + ", ";
  const std::string body = "local function f(" + parameters +
                           "...) if select('#', ...) > 0 then return 1 end return 0 end "
                           "local n = 0 for i = 1, 200 do n = n + f() end return n";
  CHECK(script(body) == "(integer) 0");
}

TEST_CASE("CVE-2015-4335: bytecode is no script, nor part of one") {
  ScriptFixture script;
  CHECK_THAT(script("\x1bLua"), Contains("-ERR"));
  CHECK_THAT(script("return select(2, loadstring('\\27Lua'))"), Contains("binary chunk"));
  CHECK(script("return tostring(string.dump)") == "\"nil\"");
}

TEST_CASE(
    "CVE-2015-8080, CVE-2018-11218, CVE-2018-11219, CVE-2020-14147, CVE-2022-24834: struct, "
    "cmsgpack and cjson are not there, and string.pack is not either") {
  ScriptFixture script;
  for (const std::string name : {"struct", "cmsgpack", "cjson"}) {
    CHECK_THAT(script("return " + name), Contains("attempted to access"));
  }
  CHECK(script("return tostring(string.pack) .. tostring(string.unpack)") == "\"nilnil\"");
}

TEST_CASE("CVE-2021-32626: what goes over the stack is bounded before it is pushed") {
  ScriptFixture script;
  CHECK_THAT(script("local t = {} for i = 1, 1000000 do t[i] = 'x' end "
                    "return redis.call('mget', unpack(t))"),
             Contains("-ERR"));
  CHECK_THAT(script("local t = {} for i = 1, 100000 do t = {t} end return t"), Contains("-ERR"));
  CHECK_THAT(script("local function f() return f() + 1 end return f()"), Contains("-ERR"));
  CHECK(script("return 1") == "(integer) 1");
}

TEST_CASE("CVE-2022-0543: no library that reaches outside can be had") {
  ScriptFixture script;
  for (const std::string name : {"package", "require", "os", "io", "debug"}) {
    CHECK_THAT(script("return " + name), Contains("attempted to access"));
    CHECK(script("return tostring(rawget(_G, '" + name + "'))") == "\"nil\"");
  }
}

TEST_CASE("CVE-2022-24735, CVE-2025-46818: no script leaves anything to the next one") {
  ScriptFixture script;
  for (const char* body : {"redis.call = function() return 'mine' end", "rawset(redis, 'call', 1)",
                           "getmetatable('').__index = function() return 'mine' end",
                           "getmetatable(1).__index = 1", "getmetatable(nil).__call = 1",
                           "string.upper = function() return 'mine' end", "setmetatable(_G, {})",
                           "rawset(_G, 'tostring', function() return 'mine' end)", "_G = {}"}) {
    CAPTURE(body);
    CHECK_THAT(script(body), Contains("-ERR"));
    CHECK(script("return tostring(('x'):upper()) .. redis.call('echo', 'y')") == "\"Xy\"");
  }
}

TEST_CASE("CVE-2022-24736: a body that ends what it may be wrapped in is a body in error") {
  ScriptFixture script;
  for (const char* body : {"end", "return 1 end function f() return 2", "return 1 --[[", "--[[",
                           "return 1 end --", "return function() end end"}) {
    CAPTURE(body);
    script(body);
    CHECK(script("return 1") == "(integer) 1");
  }
  CHECK_THAT(script("return 1 end function f() return 2"), Contains("-ERR"));
  CHECK_THAT(script("end"), Contains("-ERR"));
}

TEST_CASE("CVE-2024-31449: bit.tohex takes any count of digits") {
  ScriptFixture script;
  CHECK(script("return bit.tohex(255, -2147483648)") == "\"000000FF\"");
  CHECK(script("return bit.tohex(255, 2147483647)") == "\"000000ff\"");
  CHECK(script("return bit.tohex(255, -8)") == "\"000000FF\"");
}

TEST_CASE("CVE-2024-46981: nothing of a script runs when its garbage is collected") {
  ScriptFixture script;
  CHECK_THAT(script("setmetatable({}, {__gc = function() redis.call('set', 'k', 'v') end})"),
             Contains("__gc is not available"));
  CHECK_THAT(script("return newproxy(true)"), Contains("-ERR"));
  script.engine.flush();
  CHECK(script.host.values.empty());
}

TEST_CASE("CVE-2025-46817: ranges of unpack beyond every number of results are refused") {
  ScriptFixture script;
  for (const char* body :
       {"return {unpack({}, 0, 2147483647)}", "return {unpack({}, -2147483648, 2147483647)}",
        "return {unpack({}, math.mininteger, math.maxinteger)}", "return {unpack({1}, 1, 1e8)}",
        "return {unpack({}, math.maxinteger - 1, math.maxinteger + "
        "0)}, table.concat({}, '', 1, math.maxinteger)"}) {
    CAPTURE(body);
    CHECK_THAT(script(body), Contains("-ERR"));
  }
}

TEST_CASE("CVE-2025-46819: a long bracket has as many signs as it likes") {
  ScriptFixture script;
  const std::string signs = repeated("=", 30'000);
  CHECK(script("return #[" + signs + "[xy]" + signs + "]") == "(integer) 2");
  CHECK_THAT(script("return [" + signs), Contains("-ERR"));
  CHECK_THAT(script("return [" + signs + "[x]" + repeated("=", 29'999) + "]"), Contains("-ERR"));
  CHECK_THAT(script("--[" + signs + "["), Contains("-ERR"));
}

TEST_CASE("CVE-2025-49844: garbage is collected while a chunk is parsed") {
  ScriptFixture script;
  CHECK(script("local n = 0 for i = 1, 200 do "
               "local parts, at = {'return ', '\"' .. ('x'):rep(1000) .. i .. '\"'}, 0 "
               "local f = load(function() collectgarbage() at = at + 1 return parts[at] end, "
               "'name' .. i) n = n + #f() end return n > 200000") == "(integer) 1");
}

}  // namespace redlock::lua
