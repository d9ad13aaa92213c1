#include "script_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock::lua;

// The texts are those of redis-server 7.0.15, but where the test says otherwise.

TEST_CASE("an error names the script and the line") {
  ScriptFixture script;
  const auto check = [&](std::string_view body, std::string_view text, int line = 1) {
    CHECK(script(body) == error_of(text, body, line));
  };
  check("error('foo')", "ERR user_script:1: foo");
  check("error('foo', 0)", "ERR foo");
  check("error()", "ERR nil");
  check("error(true)", "ERR true");
  check("error({err = 'My error'})", "My error");
  check("error({err = '-My error', line = '17'})", "-My error");
  check("local function f()\n error('deep')\nend\n\nf()", "ERR user_script:2: deep", 2);
  check("local function f()\n error('deep', 2)\nend\n\nf()", "ERR user_script:5: deep", 2);
  check("\n\nlocal x = nil + 1", "ERR user_script:3: attempt to perform arithmetic on a nil value",
        3);
}

TEST_CASE("error values that are no text end a script in words of our own") {
  ScriptFixture
      script;  // Redis prefixes a number with its place, and crashes at a table without err
  CHECK(script("error(12)") == error_of("ERR 12", "error(12)"));
  CHECK(script("error({})") == error_of("ERR the error is a table without err", "error({})"));
  CHECK(script("error(error)") == error_of("ERR the error is a function", "error(error)"));
}

TEST_CASE("redis.call raises what the command answers, redis.pcall returns it") {
  ScriptFixture script;
  script.host.values["s"] = "text";
  const std::string not_integer = "ERR value is not an integer or out of range";
  const char* const body = "return redis.call('incr', 's')";
  CHECK(script(body) == error_of(not_integer, body));
  CHECK(script("return redis.pcall('incr', 's')") == "-" + not_integer);
  CHECK(script("return {redis.pcall('incr', 's')}") == "[-" + not_integer + "]");
  CHECK(script("return redis.pcall('incr', 's').err") == '"' + not_integer + '"');
}

TEST_CASE("a bad command line is told before the host is asked") {
  ScriptFixture script;
  const auto check = [&](std::string_view arguments, std::string_view text) {
    const std::string call = "return redis.call" + std::string(arguments);
    CHECK(script(call) == error_of(text, call));
    CHECK(script("return redis.pcall" + std::string(arguments)) == "-" + std::string(text));
  };
  check("()", "ERR Please specify at least one argument for this redis lib call");
  for (const char* arguments :
       {"({})", "('set', 'a', {})", "('set', 'a', true)", "('set', 'a', nil)"}) {
    check(arguments, "ERR Lua redis lib command arguments must be strings or integers");
  }
  CHECK(script.host.calls == 0);
}

TEST_CASE("pcall hands out the text of an error table, xpcall the table") {
  ScriptFixture script;
  CHECK(script("local ok, e = pcall(redis.call, 'set', 'a') return {ok, type(e), e}") ==
        "[(nil), \"string\", \"ERR Wrong number of args calling Redis command from script\"]");
  CHECK(script("local ok, e = pcall(error, {err = 'x'}) return {type(e), e}") ==
        "[\"string\", \"x\"]");
  CHECK(script("local ok, e = pcall(error, {foo = 'x'}) return type(e)") == "\"table\"");
  CHECK(script("local ok, e = xpcall(function() redis.call('nosuch') end, function(e) return e end)"
               " return {type(e), e}") ==
        "[\"table\", -ERR Unknown Redis command called from script]");
}

TEST_CASE("pcall and xpcall return what they should") {
  ScriptFixture script;
  CHECK(script("return {pcall(function(...) return ... end, 1, 2)}") ==
        "[(integer) 1, (integer) 1, (integer) 2]");
  CHECK(script("return {xpcall(function(...) return ... end, error, 1, 2)}") ==
        "[(integer) 1, (integer) 1, (integer) 2]");
  CHECK(script("return {xpcall(error, function(e) return 'handled ' .. e end, 'x')}") ==
        "[(nil), \"handled x\"]");
  CHECK(script("local ok, e = xpcall(error, function(e) error('again', 0) end, 'x') return e") ==
        "\"again\"");
  CHECK(script("return tostring(pcall(nil))") == "\"false\"");
  CHECK(script("return xpcall(error)") ==
        error_of("ERR user_script:1: bad argument #2 to 'xpcall' (value expected)",
                 "return xpcall(error)"));
}

TEST_CASE("globals that are not there, and writes to what is read-only, are errors") {
  ScriptFixture script;
  const auto check = [&](std::string_view body, std::string_view text) {
    CHECK(script(body) == error_of(text, body));
  };
  check("return x",
        "ERR user_script:1: Script attempted to access nonexistent global variable 'x'");
  check("return _G.x",
        "ERR user_script:1: Script attempted to access nonexistent global variable 'x'");
  check("print(1)",
        "ERR user_script:1: Script attempted to access nonexistent global variable 'print'");
  for (const char* body : {"x = 1", "_G.x = 1", "KEYS = 1", "redis = 1", "redis.x = 1",
                           "redis.call = 1", "string.x = 1"}) {
    check(body, "ERR user_script:1: Attempt to modify a readonly table");
  }
  for (const char* body : {"rawset(_G, 'x', 1)", "rawset(redis, 'x', 1)", "setmetatable(_G, {})",
                           "setmetatable(redis, {})"}) {
    check(body, "ERR Attempt to modify a readonly table");
  }
}

TEST_CASE("a script that does not compile says why") {
  ScriptFixture script;
  CHECK(script("if then") ==
        "-ERR Error compiling script (new function): user_script:1: unexpected symbol near 'then'");
  // Lua 5.4's words; 5.1 puts <eof> into quotes
  CHECK(script("redis.call('x'") ==
        "-ERR Error compiling script (new function): user_script:1: ')' expected near <eof>");
  CHECK(script("\x1bLua") ==
        "-ERR Error compiling script (new function): attempt to load a binary chunk (mode is 't')");
  CHECK(script.engine.script_count() == 0);
}

TEST_CASE("type errors are worded by Lua 5.4, with the name behind") {
  ScriptFixture script;
  const char* const body = "local a = nil; return a.b";
  CHECK(script(body) ==
        error_of("ERR user_script:1: attempt to index a nil value (local 'a')", body));
}

TEST_CASE("an error in a chunk that was loaded is placed in it") {
  ScriptFixture script;
  CHECK(script("loadstring('x=1')()").ends_with(", on [string \"x=1\"]:1."));
}

TEST_CASE("the redis functions check their arguments in Redis's words") {
  ScriptFixture script;
  const auto check = [&](std::string_view body, std::string_view text) {
    CHECK(script(body) == error_of(text, body));
  };
  check("redis.sha1hex()", "ERR wrong number of arguments");
  check("redis.log()", "ERR redis.log() requires two arguments or more.");
  check("redis.log(3)", "ERR redis.log() requires two arguments or more.");
  check("redis.log('a', 'b')", "ERR First argument must be a number (log level).");
  check("redis.log(10, 'b')", "ERR Invalid debug level.");
  check("redis.setresp()", "ERR redis.setresp() requires one argument.");
  check("redis.setresp(4)", "ERR RESP version must be 2 or 3.");
  check("redis.setresp('x')", "ERR RESP version must be 2 or 3.");
  check("redis.set_repl()", "ERR redis.set_repl() requires two arguments.");
  check("redis.set_repl(9)",
        "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
}

TEST_CASE("the first line may say what the script may do") {
  ScriptFixture script;
  CHECK(script("#!lua\nreturn 1") == "(integer) 1");
  CHECK(script("#!lua flags=no-writes,allow-stale\nreturn 1") == "(integer) 1");
  CHECK(script.engine.load("#!lua flags=no-writes\nreturn 1").script->is_read_only());
  CHECK_FALSE(script.engine.load("#!lua flags=allow-oom\nreturn 1").script->is_read_only());
  CHECK(script("#!lua\nreturn x").ends_with("on @user_script:2."));
  CHECK(script("#!lua") == "-ERR Invalid script shebang");
  CHECK(script("#!js\nreturn 1") == "-ERR Unexpected engine in script shebang: #!js");
  CHECK(script("#!lua flags=foo\nreturn 1") == "-ERR Unexpected flag in script shebang: foo");
  CHECK(script("#!lua name=x\nreturn 1") == "-ERR Unknown lua shebang option: name=x");
}
