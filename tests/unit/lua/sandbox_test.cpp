#include "lua/scripts/script_words.h"
#include "script_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock::lua;

namespace {

std::string names_in(ScriptFixture& script, const std::string& table) {
  return script(
      "local names = {} for name in pairs(" + table +
      ") do names[#names + 1] = name end table.sort(names) return table.concat(names, ' ')");
}

}  // namespace

TEST_CASE("a script sees just these names") {
  ScriptFixture script;
  CHECK(names_in(script, "_G") ==
        "\"ARGV KEYS _G _VERSION assert bit collectgarbage error gcinfo getmetatable ipairs load "
        "loadstring math next pairs pcall rawequal rawget rawset redis select server setmetatable "
        "string table tonumber tostring type unpack xpcall\"");
  CHECK(names_in(script, "string") ==
        "\"byte char find format gfind gmatch gsub len lower match rep reverse sub upper\"");
  CHECK(names_in(script, "table") ==
        "\"concat foreach foreachi getn insert maxn pack remove setn sort unpack\"");
  CHECK(
      names_in(script, "math") ==
      "\"abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max "
      "maxinteger min mininteger mod modf pi pow rad random randomseed sin sinh sqrt tan tanh "
      "tointeger type\"");
  CHECK(names_in(script, "bit") ==
        "\"arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex\"");
  CHECK(names_in(script, "redis") ==
        "\"LOG_DEBUG LOG_NOTICE LOG_VERBOSE LOG_WARNING REDIS_VERSION REDIS_VERSION_NUM REPL_ALL "
        "REPL_AOF REPL_NONE REPL_REPLICA REPL_SLAVE breakpoint call debug error_reply log pcall "
        "replicate_commands set_repl setresp sha1hex status_reply\"");
  CHECK(script("return server.call == redis.call") == "(integer) 1");
}

TEST_CASE("the version is the one that the node announces") {
  ScriptFixture script;
  CHECK(script("return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}") ==
        "[\"7.2.4\", (integer) 459268]");
}

TEST_CASE("read-only tables can be read in every way") {
  ScriptFixture script;
  CHECK(script("return rawget(redis, 'LOG_WARNING')") == "(integer) 3");
  CHECK(script("return tostring(rawget(_G, 'nothing'))") == "\"nil\"");
  CHECK(script("return type(next(redis))") == "\"string\"");
  CHECK(script("return tostring(redis.nothing)") == "\"nil\"");
  CHECK(script("return tostring(getmetatable(redis))") == "\"nil\"");
  CHECK(script("return tostring(getmetatable('x'))") == "\"false\"");
}

TEST_CASE("no way leads to the real table of a library") {
  ScriptFixture script;
  for (const char* body : {
           "table.insert(redis, 1)",
           "table.sort(setmetatable({}, redis)) rawset(getmetatable(setmetatable({}, redis)), 'x', "
           "1)",
           "local _, t = pairs(redis) rawset(t, 'x', 1)",
           "local f, t = pairs(redis) t.x = 1",
           "for k, v in pairs(_G) do if type(v) == 'table' and v ~= KEYS and v ~= ARGV then v.x = "
           "1 end end",
           "getmetatable('').__index = nil",
           "_ENV.x = 1",
           "load('x = 1')()",
           "load(function() return nil end)() redis.call = nil",
       }) {
    CAPTURE(body);
    CHECK(script(body).starts_with("-ERR"));
    CHECK(script("return tostring(redis.x) .. tostring(rawget(_G, 'x')) .. redis.call('echo', "
                 "'fine')") == "\"nilnilfine\"");
  }
}

TEST_CASE("what reaches outside is not there") {
  ScriptFixture script;
  for (const std::string name : {"os", "io", "debug", "coroutine", "package", "require", "dofile",
                                 "loadfile", "print", "utf8", "warn", "rawlen", "cjson"}) {
    CHECK(script("return " + name).starts_with("-ERR user_script:1: Script attempted to access"));
  }
  CHECK(script("return tostring(string.dump)") == "\"nil\"");
}

TEST_CASE("bytecode is not loaded, text is") {
  ScriptFixture script;
  CHECK(script("return select(2, load('\\27Lua', 'x', 'b'))") ==
        "\"attempt to load a binary chunk (mode is 't')\"");
  CHECK(script("return select(2, loadstring('\\27LuaT'))") ==
        "\"attempt to load a binary chunk (mode is 't')\"");
  CHECK(script("local parts = {'\\27L', 'ua'} local i = 0"
               " return select(2, load(function() i = i + 1 return parts[i] end))") ==
        "\"attempt to load a binary chunk (mode is 't')\"");
  CHECK(script("return loadstring('return 5')()") == "(integer) 5");
  CHECK(script("local parts = {'return ', 7} local i = 0"
               " return load(function() i = i + 1 return parts[i] end)()") == "(integer) 7");
  CHECK(script("return load('return x', 'name', 't', {x = 8})()") == "(integer) 8");
  CHECK(script("return {tostring(loadstring('x x')), type(select(2, loadstring('x x')))}") ==
        "[\"nil\", \"string\"]");
}

TEST_CASE("a finalizer is refused, as it would run outside of the script") {
  ScriptFixture script;
  CHECK(script("setmetatable({}, {__gc = function() while true do end end})")
            .find("__gc is not available to scripts") != std::string::npos);
  CHECK(script("setmetatable({}, {__gc = false})").starts_with("-ERR"));
  // Lua takes no notice of one that comes later.
  CHECK(script("local m = {} local t = setmetatable({}, m) m.__gc = function() redis.call('set', "
               "'x', '1') end"
               " t = nil collectgarbage() return 1") == "(integer) 1");
  script.engine.flush();
  CHECK(script.host.values.empty());
}

TEST_CASE("metatables work, and can be protected") {
  ScriptFixture script;
  CHECK(script("local t = setmetatable({}, {__index = function(t, k) return k end}) return t.a") ==
        "\"a\"");
  CHECK(script("return getmetatable(setmetatable({}, {__metatable = 'mine'}))") == "\"mine\"");
  CHECK(script("setmetatable(setmetatable({}, {__metatable = 1}), {})")
            .find("cannot change a protected metatable") != std::string::npos);
}

TEST_CASE("the names of Lua 5.1 work") {
  ScriptFixture script;
  CHECK(script("return {unpack({1, 2, 3}, 2)}") == "[(integer) 2, (integer) 3]");
  CHECK(script("return table.getn({1, 2})") == "(integer) 2");
  CHECK(script("return table.maxn({1, 2, [10] = 1})") == "(integer) 10");
  CHECK(script("local s = 0 table.foreach({1, 2, x = 3}, function(k, v) s = s + v end) return s") ==
        "(integer) 6");
  CHECK(
      script("return table.foreachi({5, 6, 7}, function(i, v) if v == 6 then return i end end)") ==
      "(integer) 2");
  CHECK(script("table.setn({}, 1)").find("'setn' is obsolete") != std::string::npos);
  CHECK(script("local r = {} for w in string.gfind('a b', '%a') do r[#r + 1] = w end return r") ==
        "[\"a\", \"b\"]");
  CHECK(script("return {math.pow(2, 3), math.log10(1000), math.mod(7, 4)}") ==
        "[(integer) 8, (integer) 3, (integer) 3]");
  CHECK(script("return {tostring(1 / 2), 7 % 3, -7 % 3}") == "[\"0.5\", (integer) 1, (integer) 2]");
  CHECK(script("return {collectgarbage('count') > 0, collectgarbage(), gcinfo() > 0}") ==
        "[(integer) 1, (integer) 0, (integer) 1]");
}

TEST_CASE("max and min take numeric strings") {
  ScriptFixture script;
  CHECK(script("return math.max(ARGV[1], 9, '8')", {}, {"10"}) == "(integer) 10");
  CHECK(script("return math.min(ARGV[1], 9)", {}, {"10"}) == "(integer) 9");
  CHECK(script("return redis.call('echo', math.max(ARGV[1], 0))", {}, {"30000"}) == "\"30000\"");
  CHECK(script("return tostring(math.max(1.5, '2.5'))") == "\"2.5\"");
  CHECK(script("return math.max('x')").find("number expected, got string") != std::string::npos);
  CHECK(script("return math.max()").find("number expected, got no value") != std::string::npos);
}

TEST_CASE("bit works on 32 bits") {
  ScriptFixture script;
  CHECK(script("return {bit.tobit(0xffffffff), bit.tohex(255), bit.tohex(255, -4), bit.bnot(0),"
               " bit.band(1, 3, 7), bit.bor(1, 2), bit.bxor(1, 3)}") ==
        "[(integer) -1, \"000000ff\", \"00FF\", (integer) -1, (integer) 1, (integer) 3, (integer) "
        "2]");
  CHECK(script("return {bit.lshift(1, 31), bit.rshift(-1, 28), bit.arshift(-16, 2), bit.lshift(1, "
               "33)}") == "[(integer) -2147483648, (integer) 15, (integer) -4, (integer) 2]");
  CHECK(script("return {bit.rol(0x12345678, 8), bit.ror(0x12345678, 8), bit.bswap(0x12345678)}") ==
        "[(integer) 878082066, (integer) 2014458966, (integer) 2018915346]");
  CHECK(script("return {bit.tobit(3.5), bit.tobit(2.5), bit.tobit(2^40 + 1), bit.band('3', 1)}") ==
        "[(integer) 4, (integer) 2, (integer) 1, (integer) 1]");
}

TEST_CASE("a script that cannot change a table sees the same world as others, in its own globals") {
  for (const char* text : {"return {KEYS[1], KEYS[2], ARGV[1], #KEYS}",
                           "return KEYS[3]",
                           "return call",
                           "return call()",
                           "return {pcall(call)}",
                           "return redis",
                           "return redis == server",
                           "return redis.call",
                           "return redis.call()",
                           "return redis.call('nothing')",
                           "return {pcall(redis.call, 'GET')}",
                           "return redis['sha1hex']('')",
                           "return redis['nothing']",
                           "return redis['LOG_WARNING']",
                           "return redis + 1",
                           "return redis()",
                           "return #redis",
                           "return redis < server",
                           "return ('')['rep']('x', 3)",
                           "return tonumber('0x10')",
                           "return tostring(nil)",
                           "return redis.call('ECHO', ARGV[1]) == ARGV[1]",
                           "return redis.pcall('GET')",
                           "return if",
                           "return redis.call('SHAPE', 'map')"}) {
    const std::string plain = text;
    const std::string other = "local x = 1 " + plain;
    CAPTURE(plain);
    REQUIRE(cannot_change_tables(plain));
    ScriptFixture run;
    const Words keys = {"k", "l"};
    const auto without_name = [&](const std::string& body) {
      std::string told = run(body, keys, {"a"});
      const std::size_t script = told.find(" script: ");  // and its own digest
      return script == std::string::npos ? told : told.substr(0, script);
    };
    CHECK(without_name(plain) == without_name(other));
    CHECK(without_name(plain) == without_name(plain));
  }
}
