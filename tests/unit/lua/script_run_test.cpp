#include "script_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::lua;

namespace {

constexpr const char* kRelease =
    R"(if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end)";

}  // namespace

TEST_CASE("the published release script deletes the holder's lock and no other's") {
  ScriptFixture script;
  script.host.values["printer"] = "alice";
  CHECK(script(kRelease, {"printer"}, {"bob"}) == "(integer) 0");
  CHECK(script.host.values.count("printer") == 1);
  CHECK(script(kRelease, {"printer"}, {"alice"}) == "(integer) 1");
  CHECK(script.host.values.empty());
}

TEST_CASE("keys and arguments are binary") {
  ScriptFixture script;
  const std::string value("\0\r\n\xff", 4);
  CHECK(script("redis.call('set', KEYS[1], ARGV[1])", {value}, {value}) == "(nil)");
  CHECK(script.host.values.at(value) == value);
  CHECK(script.run("return ARGV[1]", {}, {value}).text() == value);
}

TEST_CASE("a script sees nothing of what another did to its tables, environment or numbers") {
  ScriptFixture script;
  CHECK(
      script(
          "KEYS.left = 1; KEYS[9] = 9; setmetatable(ARGV, {__index = function() return 'left' end})"
          " redis.setresp(3) return ARGV.any",
          {"a"}, {"b"}) == "\"left\"");
  CHECK(
      script("return {tostring(KEYS.left), #KEYS, tostring(KEYS[9]), tostring(ARGV.any), #ARGV}") ==
      "[\"nil\", (integer) 0, \"nil\", \"nil\", (integer) 0]");
  CHECK(script("return redis.call('get', 'none') == false") == "(integer) 1");

  const char* const replaces_environment = "local before = redis; _ENV = {}; return redis == nil";
  CHECK(script(replaces_environment) == "(integer) 1");
  CHECK(script(replaces_environment) == "(integer) 1");
}

TEST_CASE("whatever a script did to KEYS, the next one finds its own words in it, in their order") {
  const char* const tells =
      "local t = {} for k, v in pairs(KEYS) do t[#t + 1] = k .. v end"
      " t[#t + 1] = #KEYS .. tostring(KEYS.x) return t";
  for (const char* did :
       {"return 1", "KEYS[1] = nil", "KEYS[3] = nil", "KEYS[4] = 'd'", "KEYS.x = 1", "KEYS[0] = 1",
        "KEYS[1.5] = 1", "KEYS[1] = {}", "table.remove(KEYS, 1)",
        "setmetatable(KEYS, {__index = function() return 'left' end})",
        "setmetatable(KEYS, {__newindex = function() error('left') end}) KEYS[2] = nil",
        "for i = 1, 9 do KEYS['x' .. i] = i end for i = 1, 9 do KEYS['x' .. i] = nil end",
        "redis.call('get', [==[']==]) KEYS.x = 1 return [==[']==]", "error('left')"}) {
    CAPTURE(did);
    ScriptFixture script;
    script(did, {"a", "b", "c"});
    CHECK(script("return KEYS['x']", {"a", "b", "c"}) == "(nil)");  // it may be given a used table
    CHECK(script("return KEYS[3]", {"a", "b", "c"}) == "\"c\"");
    CHECK(script(tells, {"d", "e"}) == "[\"1d\", \"2e\", \"2nil\"]");
    CHECK(script(tells, {"f", "g", "h"}) == "[\"1f\", \"2g\", \"3h\", \"3nil\"]");
    CHECK(script(tells, {"1", "2", "3", "4", "5", "6"}) ==
          "[\"11\", \"22\", \"33\", \"44\", \"55\", \"66\", \"6nil\"]");
  }
}

TEST_CASE("random numbers start anew in each script") {
  ScriptFixture script;
  const std::string first = script("return {math.random(1000000), math.random(1000000)}");
  CHECK(script("return {math.random(1000000), math.random(1000000)}") == first);
  CHECK(script("math.randomseed(0) return {math.random(1000000), math.random(1000000)}") == first);
}

TEST_CASE("after a seed the random numbers are Redis's own") {
  ScriptFixture script;
  CHECK(script("math.randomseed(7) return {math.random(1000), math.random(1,6), "
               "tostring(math.random())}") == "[(integer) 267, (integer) 5, \"0.26549059351231\"]");
  CHECK(script("math.randomseed(-7) return {math.random(1000), math.random(1,6), "
               "tostring(math.random())}") == "[(integer) 76, (integer) 5, \"0.9272527182136\"]");
}

TEST_CASE("numbers are passed to commands as integers, or in the shortest form") {
  ScriptFixture script;
  CHECK(script("redis.call('echo', 10 / 2) return redis.call('echo', 10 / 2)") == "\"5\"");
  CHECK(script("return redis.call('echo', 0.1)") == "\"0.1\"");
  CHECK(script("return redis.call('echo', 9007199254740993)") == "\"9007199254740993\"");
  CHECK(script("return redis.call('echo', ARGV[1] + 1)", {}, {"41"}) == "\"42\"");
  CHECK(script("return redis.call('echo', 'k:' .. redis.call('incr', 'n'))") == "\"k:1\"");
}

TEST_CASE("a command may have many words, all of them numbers") {
  ScriptFixture script;
  CHECK(script("local t = {} for i = 1, 200 do t[i] = i + 0.5 end"
               " redis.call('set', 'a', unpack(t))") == "(nil)");
  REQUIRE(script.host.last_request.size() == 202);
  CHECK(script.host.last_request[2] == "1.5");
  CHECK(script.host.last_request[201] == "200.5");
}

TEST_CASE("redis.log joins its words and tells the level") {
  ScriptFixture script;
  CHECK(script("redis.log(redis.LOG_WARNING, 'lock', 12, nil, 'held')") == "(nil)");
  CHECK(script("redis.log(redis.LOG_DEBUG, 'x')") == "(nil)");
  CHECK(script.host.log_lines == std::vector<std::string>{"3 lock 12 held", "0 x"});
}

TEST_CASE("a view in a reply need not outlive the call") {
  ScriptFixture script;
  script.host.values = {{"a", "first"}, {"b", "second"}};
  CHECK(script("local a = redis.call('get', 'a') local b = redis.call('get', 'b') return a .. b") ==
        "\"firstsecond\"");
}

TEST_CASE("several engines do not know of each other") {
  ScriptFixture one;
  ScriptFixture other;
  REQUIRE(one.engine.load("return 1").script != nullptr);
  CHECK(other.engine.script_count() == 0);
  CHECK(other.engine.memory_bytes() == 0);

  // One is run from within a command of the other, so both are in the middle of a script.
  one.host.on_call = [&] { CHECK(other("return redis.call('echo', 'inner')") == "\"inner\""); };
  CHECK(one("return redis.call('echo', 'outer')") == "\"outer\"");
}

TEST_CASE("a warm script keeps no memory") {
  ScriptFixture script;
  const auto run_many = [&] {
    for (int i = 0; i < 5000; ++i) script.run(kRelease, {"printer"}, {"alice"});
  };
  run_many();
  const std::size_t before = script.engine.memory_bytes();
  run_many();
  CHECK(script.engine.memory_bytes() < before + before / 2 + 256 * 1024);
  CHECK(script.engine.memory_bytes() < 512 * 1024);
}
