#include "lua/library/limits.h"
#include "script_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::lua;

// What the texts say is what redis-server 7.0.15 answers to the same scripts,
// but where it says otherwise.

TEST_CASE("numbers are truncated") {
  ScriptFixture script;
  CHECK(script("return 3.99") == "(integer) 3");
  CHECK(script("return -3.99") == "(integer) -3");
  CHECK(script("return 1e300") == "(integer) -9223372036854775808");
  CHECK(script("return 0/0") == "(integer) -9223372036854775808");
  CHECK(script("return 2^53") == "(integer) 9007199254740992");
}

TEST_CASE("integers of 64 bits are exact, other than in Redis, whose Lua has floats alone") {
  ScriptFixture script;
  CHECK(script("return 9007199254740993") == "(integer) 9007199254740993");
  CHECK(script("return 9223372036854775807") == "(integer) 9223372036854775807");
}

TEST_CASE("true is 1, false and nothing are null") {
  ScriptFixture script;
  CHECK(script("return true") == "(integer) 1");
  CHECK(script("return false") == "(nil)");
  CHECK(script("return nil") == "(nil)");
  CHECK(script("return") == "(nil)");
  CHECK(script("return function() end") == "(nil)");
  CHECK(script("return 1, 2") == "(integer) 1");
}

TEST_CASE("a table is an array that ends at its first nil") {
  ScriptFixture script;
  CHECK(script("return {}") == "[]");
  CHECK(script("return {1, 'a', true, 3.7}") == "[(integer) 1, \"a\", (integer) 1, (integer) 3]");
  CHECK(script("return {1, nil, 3}") == "[(integer) 1]");
  CHECK(script("return {1, false, 3}") == "[(integer) 1, (nil), (integer) 3]");
  CHECK(script("return {1, function() end}") == "[(integer) 1, (nil)]");
  CHECK(script("return {1, {2, {3, {}}}}") == "[(integer) 1, [(integer) 2, [(integer) 3, []]]]");
  CHECK(script("return {1, 2, a = 1}") == "[(integer) 1, (integer) 2]");
  CHECK(script("return setmetatable({}, {__index = function() return 1 end})") == "[]");
}

TEST_CASE("tables with ok and err are statuses and errors") {
  ScriptFixture script;
  CHECK(script("return {ok = 'fine'}") == "+fine");
  CHECK(script("return {err = 'MY error'}") == "-MY error");
  CHECK(script("return {ok = 'a', err = 'b'}") == "-b");
  CHECK(script("return {ok = 1}") == "[]");
  CHECK(script("return {{err = 'X y'}, {ok = 'z'}}") == "[-X y, +z]");
}

TEST_CASE("the helper functions make the same tables") {
  ScriptFixture script;
  CHECK(script("return redis.status_reply('fine')") == "+fine");
  CHECK(script("return redis.error_reply('My Err')") == "-My Err");
  CHECK(script("return redis.error_reply('-My Err')") == "-My Err");
  CHECK(script("return redis.error_reply('MyErr')") == "-ERR MyErr");
  CHECK(script("return redis.error_reply('--foo')") == "-ERR -foo");
  CHECK(script("return redis.error_reply('')") == "-ERR ");
  CHECK(script("return redis.error_reply('-')") == "-ERR ");
  CHECK(script("return redis.error_reply(' a b')") == "- a b");
  for (const char* arguments : {"()", "(1)", "({})", "('a', 'b')"}) {
    CHECK(script(std::string("return redis.error_reply") + arguments) ==
          "-ERR wrong number or type of arguments");
    CHECK(script(std::string("return redis.status_reply") + arguments) ==
          "-ERR wrong number or type of arguments");
  }
}

TEST_CASE("RESP3's shapes can be returned in either version") {
  ScriptFixture script;
  for (const std::string version : {"", "redis.setresp(3) "}) {
    CHECK(script(version + "return {double = 1.5}") == "(double) 1.5");
    CHECK(script(version + "return {double = '1.5'}") == "[]");
    CHECK(script(version + "return {map = {a = 1}}") == "{\"a\": (integer) 1}");
    CHECK(script(version + "return {set = {a = true}}") == "~[\"a\"]");
    CHECK(script(version + "return {big_number = '1\\r\\n2'}") == "(big number) 1  2");
    CHECK(script(version + "return {verbatim_string = {format = 'txt', string = 'abc'}}") ==
          "\"abc\"");
    CHECK(script.run(version + "return {verbatim_string = {format = 'txt', string = 'abc'}}")
              .is(protocol::Reply::Kind::verbatim));
    CHECK(script(version + "return {verbatim_string = {format = 'txt'}}") == "[]");
    CHECK(script(version + "return {map = 1}") == "[]");
  }
}

TEST_CASE("booleans are booleans after setresp(3)") {
  ScriptFixture script;
  CHECK(script("redis.setresp(3) return true") == "(true)");
  CHECK(script("redis.setresp(3) return {true, false}") == "[(true), (false)]");
  CHECK(script("redis.setresp(3) return {true, nil, false}") == "[(true)]");
}

TEST_CASE("replies arrive in RESP2's shapes") {
  ScriptFixture script;
  CHECK(script("return type(redis.call('get', 'none'))") == "\"boolean\"");
  CHECK(script("return redis.call('get', 'none') == false") == "(integer) 1");
  CHECK(script("return redis.call('shape', 'null-array') == false") == "(integer) 1");
  CHECK(script("return redis.call('set', 'a', 'b').ok") == "\"OK\"");
  CHECK(script("return math.type(redis.call('incr', 'n'))") == "\"integer\"");
  CHECK(script("return redis.call('shape', 'map')") == "[\"field\", (integer) 1]");
  CHECK(script("return redis.call('shape', 'set')") == "[\"a\", \"b\"]");
  CHECK(script("return redis.call('shape', 'real')") == "\"1.5\"");
  CHECK(script("return redis.call('shape', 'big')") == "\"12345678901234567890\"");
  CHECK(script("return redis.call('shape', 'verbatim')") == "\"some text\"");
  CHECK(script("return redis.call('shape', 'true')") == "(integer) 1");
  CHECK(script("return redis.call('shape', 'false')") == "(integer) 0");
  CHECK(script("return redis.call('shape', 'nested')") == "[(integer) 1, [+OK, (nil)]]");
  CHECK(script("return #redis.call('mget', 'none', 'none')") == "(integer) 2");
}

TEST_CASE("replies arrive in RESP3's shapes after setresp(3)") {
  ScriptFixture script;
  const auto resp3 = [&](std::string_view body) {
    return script("redis.setresp(3) return " + std::string(body));
  };
  CHECK(resp3("tostring(redis.call('get', 'none'))") == "\"nil\"");
  CHECK(resp3("redis.call('shape', 'map').map.field") == "(integer) 1");
  CHECK(resp3("redis.call('shape', 'map')") == "{\"field\": (integer) 1}");
  CHECK(resp3("redis.call('shape', 'set').set.b") == "(true)");
  CHECK(resp3("tostring(redis.call('shape', 'real').double)") == "\"1.5\"");
  CHECK(resp3("redis.call('shape', 'real')") == "(double) 1.5");
  CHECK(resp3("redis.call('shape', 'big').big_number") == "\"12345678901234567890\"");
  CHECK(resp3("redis.call('shape', 'verbatim').verbatim_string.format") == "\"txt\"");
  CHECK(resp3("redis.call('shape', 'verbatim').verbatim_string.string") == "\"some text\"");
  CHECK(resp3("redis.call('shape', 'false')") == "(false)");
  CHECK(resp3("#redis.call('mget', 'none', 'none')") == "(integer) 0");
}

TEST_CASE("a table that contains itself is an error") {
  ScriptFixture script;
  CHECK(script("local t = {} t[1] = t return t") == "-ERR reached lua stack limit");
  CHECK(script("local t = {} t.map = t return t") == "-ERR reached lua stack limit");
  CHECK(script("local t = {} t[1] = t t[2] = t return t") == "-ERR reached lua stack limit");
  CHECK(script("local t = {} t.set = {[t] = 1} return t") == "-ERR reached lua stack limit");
  CHECK(script("local t = 1 for i = 1, 32 do t = {t} end return t")
            .ends_with("[(integer) 1" + std::string(32, ']')));
}

TEST_CASE("a reply is bounded though its parts are shared") {
  ScriptFixture script;
  CHECK(
      script("local s = ('x'):rep(1000000) local t = {} for i = 1, 100 do t[i] = s end return t") ==
      "-ERR the reply of the script is too large");
  CHECK(
      script(
          "local t = {} for i = 1, 100 do t[i] = i end"
          " for level = 1, 3 do local u = {} for i = 1, 100 do u[i] = t end t = u end return t") ==
      "-ERR the reply of the script is too large");
}
