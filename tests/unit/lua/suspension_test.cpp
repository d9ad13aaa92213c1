// Scripts that run for too long: suspended by a real timer's signal, resumed, killed, aborted.
#include "script_fixture.h"
#include "signal_timer.h"

#include <chrono>

#include <catch2/catch.hpp>

using namespace redlock::lua;
using namespace std::chrono_literals;

namespace {

using Progress = Engine::Progress;

// Long enough to be cut into slices, and it says so if one instruction is lost or done twice.
constexpr const char* kCountsToAMillion =
    "redis.call('ping') local n = 0 for i = 1, 1000000 do n = n + 1 end return n";

// Nothing of a script that was stopped may show in the next.
void check_engine_is_sound(ScriptFixture& script) {
  script.host.on_call = nullptr;
  CHECK(script(kCountsToAMillion) == "(integer) 1000000");  // in one go: no hook is left
  CHECK(script("return {pcall(error, 'x')}") == "[(nil), \"x\"]");
  CHECK(script.engine.memory_bytes() < 2 * 1024 * 1024);
}

}  // namespace

TEST_CASE("an interrupted script is suspended, and goes on as if nothing had been") {
  ScriptFixture script;
  script.host.on_call = [&] { script.engine.interrupt(); };
  CHECK(script.start(kCountsToAMillion) == Progress::suspended);
  CHECK(script.engine.is_active());
  CHECK(script.engine.is_suspended());
  CHECK_FALSE(script.engine.is_running());
  int slices = 1;
  while (script.engine.resume() == Progress::suspended) ++slices;
  CHECK(slices > 20);  // three million instructions, a hundred thousand a slice
  CHECK_FALSE(script.engine.is_active());
  CHECK(script.engine.take_reply().to_string() == "(integer) 1000000");
  check_engine_is_sound(script);
}

TEST_CASE("a slice can be cut short by another interrupt") {
  Limits limits;
  limits.slice_instructions = 1'000'000'000;
  ScriptFixture script(limits);
  const SignalTimer timer(script.engine, &Engine::interrupt);
  CHECK(script.start("while true do end") == Progress::suspended);
  for (int i = 0; i < 3; ++i) CHECK(script.engine.resume() == Progress::suspended);
  script.engine.kill(kKilledByUser);
  script.engine.take_reply();
}

TEST_CASE("an interrupt that comes between two slices is forgotten") {
  ScriptFixture script;
  script.host.on_call = [&] { script.engine.interrupt(); };
  CHECK(script.start(kCountsToAMillion) == Progress::suspended);
  int slices = 1;
  do {
    script.engine.interrupt();
    ++slices;
  } while (script.engine.resume() == Progress::suspended && slices < 1000);
  CHECK(slices < 100);
  CHECK(script.engine.take_reply().to_string() == "(integer) 1000000");
}

TEST_CASE("a signal suspends an endless script, and kill ends it in Redis's words") {
  for (const std::string body : {
           "while true do end",
           "while true do pcall(function() while true do end end) end",
           "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
           "local function f() return f() end f()",
           "for i = 1, math.huge do local s = 'k' .. i end",
           ("local t = setmetatable({}, {__close = function() while true do end end})"
            " local x <close> = t while true do end"),
       }) {
    CAPTURE(body);
    ScriptFixture script;
    {
      const SignalTimer timer(script.engine, &Engine::interrupt);
      CHECK(script.start(body) == Progress::suspended);
      CHECK(script.engine.resume() == Progress::suspended);
    }
    script.engine.kill(kKilledByUser);
    CHECK_FALSE(script.engine.is_active());
    CHECK(script.engine.take_reply().to_string() == error_of(kKilledByUser, body));
    check_engine_is_sound(script);
  }
}

TEST_CASE("kill tells the line where the script stood") {
  ScriptFixture script;
  script.host.on_call = [&] { script.engine.interrupt(); };
  const char* const body =
      "local function f()\n  while true do end\nend\n\nredis.call('ping') f() return 1";
  CHECK(script.start(body) == Progress::suspended);
  CHECK(script.engine.resume() == Progress::suspended);
  script.engine.kill(kKilledByUser);
  CHECK(script.engine.take_reply().to_string() == error_of(kKilledByUser, body, 2));
}

TEST_CASE("abort ends a script wherever it is, whatever it does against that") {
  for (const std::string body : {
           "while true do end",
           "while true do pcall(function() while true do end end) end",
           "table.sort({1, 2, 3}, function() while true do end end)",
           "table.sort({1, 2, 3}, function() while true do pcall(function() while true do end end) "
           "end end)",
           "while true do pcall(table.sort, {1, 2, 3}, function() while true do end end) end",
           "('x'):gsub('.', function() while true do end end)",
           "tostring(setmetatable({}, {__tostring = function() while true do end end}))",
           "xpcall(function() while true do end end, function() while true do end end)",
           "('x'):gsub('.', function() xpcall(function() while true do end end,"
           " function() while true do end end) end)",
           "local x <close> = setmetatable({}, {__close = function() while true do end end})"
           " while true do end",
           "('x'):gsub('.', function() local x <close> = setmetatable({}, {__close = function()"
           " while true do end end}) while true do end end)",
           "table.foreach({1}, function() while true do end end)",
           "load(function() while true do end end)",
           "while true do redis.pcall('incr', 'n') end",
       }) {
    CAPTURE(body);
    ScriptFixture script;
    {
      const SignalTimer timer(script.engine, &Engine::abort_running);
      CHECK(script.start(body) == Progress::finished);
    }
    CHECK(script.engine.take_reply().to_string() == error_of(kTimeLimitError, body));
    check_engine_is_sound(script);
  }
}

namespace {

// One call of a C function, of many seconds, that is aborted after 20 ms.
void check_is_ended(const std::string& body) {
  CAPTURE(body);
  ScriptFixture script;
  const auto started_at = std::chrono::steady_clock::now();
  {
    const SignalTimer timer(script.engine, &Engine::abort_running, 20ms);
    CHECK(script.start(body) == Progress::finished);
  }
  CHECK(std::chrono::steady_clock::now() - started_at < 2s);  // generous: sanitizers
  CHECK(script.engine.take_reply().to_string() == error_of(kTimeLimitError, body));
  check_engine_is_sound(script);
}

}  // namespace

TEST_CASE("abort ends a match that would never end, and what looks like one") {
  for (const std::string body : {
           "return ('a'):rep(3000):find('a*a*a*a*b')",
           "return ('^'):rep(2000000):gmatch('^.*b')()",
           "for _ in ('a'):rep(2000000):gmatch('.*b') do end",
           "return ('a'):rep(2000000):gsub('^()', ('%1'):rep(2000000))",
           "return ('a'):rep(4000000):gsub('b*', ('%1'):rep(2000000))",
           "return ('('):rep(2000000):find('%b()')",
           "return ('%'):rep(2000000):find('%b%*a*a*a*a*b')",
           "return ('a'):rep(3000):find('^(?-)a-a-a-a-b')",
           "return ('a'):rep(40):find('^' .. ('a?'):rep(40) .. ('a'):rep(40) .. 'b')",
           "return ('a'):rep(4000000):find('[' .. ('b'):rep(4000000) .. ']')",
           "return ('a'):rep(2000000):find('^(a*)a*%1%1b')",
           "return ('a'):rep(4000000):gsub('a', {a = 'a'}) and ('a'):rep(3000):find('a-a-a-a-b')",
       }) {
    check_is_ended(body);
  }
}

TEST_CASE("abort ends a function between two of its arguments") {
  // Each takes milliseconds to be read as a number.
  const std::string many =
      "local s, t = ('0'):rep(4000000) .. '1', {} for i = 1, 999 do t[i] = s end ";
  for (const char* call : {
           "math.max(unpack(t))",
           "math.min(unpack(t))",
           "bit.bor(unpack(t))",
           "string.char(unpack(t))",
           "string.format(('%d'):rep(999), unpack(t))",
           "string.format(('%.3f'):rep(999), unpack(t))",
       }) {
    check_is_ended(many + "return " + call);
  }
  check_is_ended(  // each look goes through 1,900 tables
      "local t = {} for _ = 1, 1900 do t = setmetatable({}, {__index = t}) end"
      " return ('a'):rep(2000000):gsub('', t)");
}

TEST_CASE("a chain of C functions is ended too, and reaches the host no more") {
  const std::string long_chains[] = {
      // Each comparison is a search of milliseconds; no instruction comes between them.
      "local s = 'a-a-' .. ('a'):rep(200) .. '[b]c' local t = {}"
      " for i = 1, 1000 do t[i] = s end while true do pcall(table.sort, t, string.find) end",
      "local t = {} for i = 1, 100000 do t[i] = 'echo' end"
      " while true do pcall(table.sort, t, redis.pcall) end",
      "local s = ('a'):rep(9000) while true do pcall(string.gsub, s, '.', redis.pcall) end",
  };
  for (const std::string& body : long_chains) {
    CAPTURE(body);
    ScriptFixture script;
    {
      const SignalTimer timer(script.engine, &Engine::abort_running);
      CHECK(script.start(body) == Progress::finished);
    }
    const std::size_t calls = script.host.calls;
    CHECK(script.engine.take_reply().to_string() == error_of(kTimeLimitError, body));
    CHECK(script.host.calls == calls);
    check_engine_is_sound(script);
  }
}

TEST_CASE("once aborted, a script writes no more") {
  ScriptFixture script;
  script.host.on_call = [&] { script.engine.abort_running(); };
  const char* const body =
      "table.sort({1, 2, 3}, function() redis.call('incr', 'n') redis.call('incr', 'n') end)";
  CHECK(script.start(body) == Progress::finished);
  CHECK(script.engine.take_reply().to_string() == error_of(kTimeLimitError, body));
  CHECK(script.host.values.at("n") == "1");
}

TEST_CASE("where Lua cannot yield, an interrupted script runs on and is suspended later") {
  Limits limits;
  limits.slice_instructions = 100;
  ScriptFixture script(limits);
  script.host.on_call = [&] { script.engine.interrupt(); };
  CHECK(script.start(
            "local n = 0 table.sort({2, 1}, function(a, b) if n == 0 then redis.call('ping') end"
            " for i = 1, 1000 do n = n + 1 end return a < b end)"
            " local sorted = n for i = 1, 1000 do n = n + 1 end return sorted") ==
        Progress::suspended);
  while (script.engine.resume() == Progress::suspended) {
  }
  CHECK(script.engine.take_reply().integer() >= 1000);
}

TEST_CASE("a suspended script that is aborted ends at its next slice") {
  ScriptFixture script;
  const char* const body = "redis.call('ping') while true do end";
  script.host.on_call = [&] { script.engine.interrupt(); };
  CHECK(script.start(body) == Progress::suspended);
  script.engine.abort_running();
  CHECK(script.engine.resume() == Progress::finished);
  CHECK(script.engine.take_reply().to_string() == error_of(kTimeLimitError, body));
  check_engine_is_sound(script);
}

TEST_CASE("an abort that comes with the last instruction changes nothing") {
  ScriptFixture script;
  script.host.on_call = [&] { script.engine.abort_running(); };
  const std::string reply =
      script("return redis.call('ping')");  // a tail call: nothing comes after
  CHECK((reply == "+PONG" || reply == error_of(kTimeLimitError, "return redis.call('ping')")));
  check_engine_is_sound(script);
}

TEST_CASE("signals that come when no script is active are forgotten") {
  ScriptFixture script;
  script.engine.interrupt();
  script.engine.abort_running();
  check_engine_is_sound(script);
  script.engine.interrupt();
  script.engine.abort_running();
  check_engine_is_sound(script);
}

TEST_CASE("a script survives interrupts at any instruction") {
  Limits limits;
  limits.slice_instructions = 7;
  ScriptFixture script(limits);
  script.host.on_call = [&] { script.engine.interrupt(); };
  // Calls, loops, metamethods, protected calls, coroutines of the C API:
  // all resumed every 7 instructions.
  const char* const body = R"(
    redis.call('ping')
    local t = setmetatable({}, {__index = function(_, k) return k * 2 end,
                                __add = function(a, b) return 40 + b end,
                                __call = function(self, x) return x end,
                                __lt = function() return true end,
                                __concat = function(a, b) return 'c' end})
    local parts = {}
    for i = 1, 50 do
      local ok, e = pcall(function() if i % 2 == 0 then error('odd', 0) end return t[i] end)
      parts[#parts + 1] = tostring(e)
      local handled, text = xpcall(error, function(e) return e .. '!' end, 'x')
      parts[#parts + 1] = text
      for k, v in pairs({a = 1, b = 2}) do parts[#parts + 1] = v end
    end
    local sum = t + 2
    if t < t then sum = sum + t(5) end
    return {#parts, sum, t .. 'x', parts[1], parts[2], select(2, pcall(redis.call, 'nosuch'))})";
  CHECK(script.start(body) == Progress::suspended);
  int slices = 0;
  while (script.engine.resume() == Progress::suspended) ++slices;
  CHECK(slices > 200);
  CHECK(script.engine.take_reply().to_string() ==
        "[(integer) 200, (integer) 47, \"c\", \"2\", \"x!\", "
        "\"ERR Unknown Redis command called from script\"]");
  check_engine_is_sound(script);
}

TEST_CASE("a signal at every moment of many scripts leaves each of them right") {
  ScriptFixture script;
  const SignalTimer timer(script.engine, &Engine::interrupt, 1ms);
  for (int i = 0; i < 300; ++i) {
    Progress progress = script.start(
        "local t = {} for i = 1, 2000 do t[i] = tostring(i) end"
        " table.sort(t, function(a, b) return #a < #b end) return #table.concat(t)");
    while (progress == Progress::suspended) progress = script.engine.resume();
    REQUIRE(script.engine.take_reply().integer() == 6893);
  }
}
