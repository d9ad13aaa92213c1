#include "lua/library/limits.h"

#include "script_fixture.h"
#include "signal_timer.h"

#include <algorithm>
#include <chrono>

#include <catch2/catch.hpp>

using namespace redlock::lua;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Each ends by itself: nobody interrupts it.
void check_ends(ScriptFixture& script, std::string_view body, std::string_view error) {
  CAPTURE(body);
  CHECK(contains(script(body), error));
  CHECK(script("return redis.call('echo', 'fine')") == "\"fine\"");
  CHECK(script.engine.memory_bytes() < 2 * 1024 * 1024);
}

}  // namespace

TEST_CASE(
    "a script that wants more memory than there is gets an error, and leaves nothing behind") {
  ScriptFixture script;
  for (const char* body : {
           "local t = {} for i = 1, math.huge do t[i] = i end",
           "local s = 'x' while true do s = s .. s end",
           "local t = {} for i = 1, math.huge do t[i] = ('x'):rep(1000) .. i end",
           "local function f() return f() + 1 end return f()",
           "return {('x'):rep(9000000):byte(1, 9000000)}",
           "local s = {} while true do s = {s} end",
           "return table.concat(setmetatable({}, {__index = tostring}), '', 1, 1000000)",
       }) {
    CAPTURE(body);
    CHECK(script(body).starts_with("-ERR"));
    check_ends(script, body, "ERR");
  }
  check_ends(script, "local t = {} while true do t[#t + 1] = ('x'):rep(65536) .. #t end",
             "ERR not enough memory script: ");
}

TEST_CASE("a script can catch the lack of memory and go on") {
  ScriptFixture script;
  CHECK(script("local ok, e = pcall(function() local s = 'x' while true do s = s .. s end end)"
               " return {ok, e}") == "[(nil), \"not enough memory\"]");
}

TEST_CASE("arguments and replies count as the script's memory") {
  Limits limits;
  limits.memory_bytes_max = 1024 * 1024;
  ScriptFixture script(limits);
  const std::string large(2 * 1024 * 1024, 'x');
  CHECK(contains(script("return #ARGV[1]", {}, {large}), "ERR not enough memory"));
  CHECK(contains(script("return #KEYS[1]", {large}, {}), "ERR not enough memory"));
  script.host.values["large"] = large;
  CHECK(contains(script("return #redis.call('get', 'large')"), "ERR not enough memory"));
  CHECK(script("return #ARGV[1]", {}, {"fine"}) == "(integer) 4");
}

TEST_CASE("a longer script than the limit is refused, however it comes") {
  Limits limits;
  limits.script_bytes_max = 1000;
  ScriptFixture script(limits);
  CHECK(script("return 1 --" + std::string(989, ' ')) == "(integer) 1");
  CHECK(script("return 1 --" + std::string(990, ' ')) ==
        "-ERR the script has 1001 bytes, script-size-limit allows 1000");
  const std::string refusal = "\"the chunk is longer than script-size-limit allows\"";
  CHECK(script("return select(2, load((' '):rep(1001)))") == refusal);
  CHECK(script("return select(2, load(function() return 'return 1 ' end))") == refusal);
  CHECK(script("return load((' '):rep(1000))()") == "(nil)");
}

TEST_CASE("a script that takes long to compile is ended between two pieces of it") {
  Limits limits;
  limits.script_bytes_max = 8 * 1024 * 1024;
  limits.memory_bytes_max = 256 * 1024 * 1024;
  ScriptFixture script(limits);
  std::string body = "local a if a then";
  for (int i = 0; i < 100'000; ++i) body += " elseif a then";
  body += " end";
  {
    const SignalTimer timer(script.engine, &Engine::abort_stuck, std::chrono::milliseconds(25));
    CHECK(script.engine.load(body).error ==
          "ERR Error compiling script (new function): it takes too long to compile, send shorter "
          "scripts");
    CHECK(script.engine.was_aborted());
    CHECK(contains(script("return load('local a if a then' .. (' elseif a then'):rep(100000) .. "
                          "' end')"),
                   "cannot be suspended"));
  }
  CHECK(script("return 1") == "(integer) 1");
}

TEST_CASE("no table of a script is weak") {
  ScriptFixture script;
  const std::string refused = "__mode is not available to scripts";
  for (const char* body : {
           "setmetatable({}, {__mode = 'k'})",
           "local m = {} setmetatable({}, m) m.__mode = 'k'",
           "local m = {} setmetatable({}, m) m['__' .. 'mode'] = 'k'",
           "local m = {} setmetatable({}, m) rawset(m, '__mode', 'k')",
           "local m = setmetatable({}, {__newindex = rawset}) m.__mode = 'k'",
       }) {
    CAPTURE(body);
    CHECK(contains(script(body), refused));
  }
  for (const char* body : {
           "local m = {} setmetatable({}, m) setmetatable(m, {}) m.__mode = 'k'",
           "local m = {} setmetatable({}, m) setmetatable(m, nil) m.__mode = 'k'",
           "local m = setmetatable({}, {}) setmetatable({}, m) m.__mode = 'k'",
           "local m = {} setmetatable(m, m) m.__mode = 'k'",
           "setmetatable(setmetatable({}, {}), {}) setmetatable({}, redis)",
       }) {
    CAPTURE(body);
    CHECK(contains(script(body), "metatable"));
  }
  CHECK(script("local class = {} class.__index = class local o = setmetatable({}, class)"
               " function class.name() return 'x' end class.__call = function() return 'y' end"
               " return {o.name(), o(), tostring(getmetatable(o) == class),"
               " tostring(getmetatable(class))}") == "[\"x\", \"y\", \"true\", \"nil\"]");
}

TEST_CASE("the limit is the owner's") {
  Limits limits;
  limits.memory_bytes_max = 64 * 1024 * 1024;
  ScriptFixture script(limits);
  CHECK(script("return #('x'):rep(30000000)") == "(integer) 30000000");
}

TEST_CASE("a string of gigabytes is refused before it is made") {
  ScriptFixture script;
  check_ends(script, "return ('x'):rep(1000000000)", "resulting string too large");
  check_ends(script, "return ('x'):rep(9223372036854775807)", "resulting string too large");
  CHECK(script("return (''):rep(9223372036854775807)") == "\"\"");
  CHECK(script("return ('x'):rep(-5)") == "\"\"");
  CHECK(script("return ('ab'):rep(3, ',')") == "\"ababab\"");  // as in Lua 5.1
}

TEST_CASE("tables that pretend to be long are not walked") {
  ScriptFixture script;
  const std::string sparse =
      "local t = {} for i = 0, 61 do t[1 << i] = 'x' end t[5] = 'x' t[9] = 'x' ";
  const std::string claims = "local t = setmetatable({}, {__len = function() return 1 << 60 end}) ";
  check_ends(script, sparse + "table.insert(t, 1, 'x')", "too many elements");
  check_ends(script, sparse + "table.remove(t, 1)", "too many elements");
  check_ends(script, sparse + "table.sort(t)", "too many elements");
  check_ends(script, sparse + "return table.concat(t)", "too many elements");
  check_ends(script, sparse + "table.foreachi(t, type)", "too many elements");
  check_ends(script, "return table.concat({}, '', -(1 << 62), 1 << 62)", "too many elements");
  check_ends(script, claims + "table.insert(t, 1, 'x')", "a table with __len is not taken");
  check_ends(script, claims + "table.sort(t)", "a table with __len is not taken");
  check_ends(script, "return unpack({}, 1, 100000000)", "too many results to unpack");
  check_ends(script, "return unpack({}, 1, 9223372036854775807)", "too many results to unpack");
}

TEST_CASE("a sort is bounded by the length of its strings too") {
  ScriptFixture script;
  check_ends(script,
             "local a, b = ('x'):rep(2000000) .. 'a', ('x'):rep(2000000) .. 'b' local t = {}"
             " for i = 1, 10000 do t[i] = i % 2 == 0 and a or b end table.sort(t)",
             "too much to sort");
  CHECK(script("local t = {} for i = 1, 50000 do t[i] = i * 7919 % 50000 end table.sort(t)"
               " return {t[1], t[50000]}") == "[(integer) 0, (integer) 49999]");
}

TEST_CASE("of an error's text so much is told") {
  ScriptFixture script;
  for (const char* body : {"error(('x'):rep(1000000))", "error({err = ('x'):rep(1000000)})"}) {
    const std::string told = script(body);
    const auto told_of_it = std::count(told.begin(), told.end(), 'x');
    CHECK(told_of_it > 64 * 1024 - 20);  // behind the place in the script
    CHECK(told_of_it <= 64 * 1024);
    CHECK(contains(told, " script: "));
  }
}

TEST_CASE("one call takes so many words, conversions, items of a reply") {
  ScriptFixture script;
  CHECK(contains(script("return string.format(('%d'):rep(1000), unpack({}))"), "bad argument #2"));
  CHECK(script("local t = {} for i = 1, 1000 do t[i] = '1' end"
               " return #string.format(('%.1f'):rep(1000), unpack(t))") == "(integer) 3000");
  CHECK(contains(script("return string.format(('%d'):rep(1001))"),
                 "too many conversions for one call"));
  const auto words = [](int count) {
    return "local t = {} for i = 1, " + std::to_string(count) +
           " do t[i] = 'echo' end return redis.call(unpack(t))";
  };
  CHECK(!contains(script(words(16384)), "words"));
  CHECK(contains(script(words(16385)), "ERR a command has 16384 words at most"));
  const auto items = [](int count) {
    return "local t = {} for i = 1, " + std::to_string(count) + " do t[i] = i end return t";
  };
  CHECK(!script(items(32767)).starts_with("-"));
  CHECK(contains(script(items(32768)), "ERR the reply of the script is too large"));
}

TEST_CASE("recursion ends in an error, in Lua and in C") {
  ScriptFixture script;
  check_ends(script, "local function f() return pcall(f) end return tostring(f())", "");
  check_ends(script, "local function f() table.sort({1, 2}, f) end f()", "C stack overflow");
  check_ends(script, "local function f() return (('x'):gsub('.', f)) end return f()",
             "C stack overflow");
  check_ends(
      script,
      "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k] end"
      " return t.x",
      "ERR");
  check_ends(script, "return load('return ' .. ('('):rep(10000) .. '1' .. (')'):rep(10000))()",
             "ERR");
  check_ends(script, "return " + std::string(10'000, '{') + std::string(10'000, '}'),
             "Error compiling");
}

TEST_CASE("each cap ends within a second or so") {
  ScriptFixture script;
  const auto start = std::chrono::steady_clock::now();
  CHECK(script("local t = {} for i = 1, 200000 do t[i] = i * 7919 % 200000 end table.sort(t) "
               "return #t") == "(integer) 200000");
  CHECK(std::chrono::steady_clock::now() - start <
        std::chrono::seconds(20));  // generous: sanitizers
}
