// string.find, match, gmatch and gsub against Lua's own, and matches that would never end.
#include "base/random.h"
#include "script_fixture.h"

#include <array>
#include <chrono>

#include <catch2/catch.hpp>
#include <lua.hpp>

using namespace redlock;
using namespace redlock::lua;

namespace {

// Lua's own library, and over its find what Lua 5.1 makes of a match of nothing.
constexpr const char* kReference = R"lua(
  local function at(s, p, i)  -- p at this very place; a '^' in it is a character
    local r = table.pack(string.find(s, '^' .. p, i))
    if r[1] == nil then return nil end
    if r.n == 2 then return r[2], {s:sub(i, r[2]), n = 1} end
    return r[2], {n = r.n - 2, table.unpack(r, 3, r.n)}
  end
  local function matches(s, p, is_anchored, visit)
    local i = 1
    while i <= #s + 1 do
      local last, captures = at(s, p, i)
      if last then visit(i, last, captures) end
      i = last and last >= i and last + 1 or i + 1
      if is_anchored then break end
    end
  end
  function gmatch(s, p)
    local all = {}
    matches(s, p, false, function(_, _, captures)
      for i = 1, captures.n do all[#all + 1] = tostring(captures[i]) end
    end)
    return table.concat(all, ';')
  end
  function gsub(s, p, replacement)
    local out, behind, count = {}, 1, 0
    local is_anchored = p:sub(1, 1) == '^'
    if is_anchored then p = p:sub(2) end
    matches(s, p, is_anchored, function(first, last, captures)
      out[#out + 1] = s:sub(behind, first - 1)
      out[#out + 1] = (replacement:gsub('%%(.)', function(digit)
        if digit == '0' then return s:sub(first, last) end
        local capture = captures[tonumber(digit)]
        if not capture then error('invalid capture index %' .. digit) end
        return tostring(capture)
      end))
      behind = last + 1
      count = count + 1
    end)
    return table.concat(out) .. s:sub(behind) .. ';' .. count
  end
)lua";

// The functions as both sides know them; each returns one string.
constexpr const char* kCalls = R"lua(
  local function told(ok, ...)
    local words = {tostring(ok)}
    for i = 1, select('#', ...) do
      words[#words + 1] = tostring((select(i, ...))):gsub('^[^ ]*:%d+: ', '')
    end
    return table.concat(words, '|')
  end
)lua";

class StockLua {
 public:
  StockLua() : lua_(luaL_newstate()) {
    luaL_openlibs(lua_);
    REQUIRE(luaL_dostring(lua_, kReference) == LUA_OK);
  }
  ~StockLua() { lua_close(lua_); }
  StockLua(const StockLua&) = delete;
  StockLua& operator=(const StockLua&) = delete;

  std::string operator()(const std::string& body, const std::string& subject,
                         const std::string& pattern) {
    lua_createtable(lua_, 2, 0);
    lua_pushlstring(lua_, subject.data(), subject.size());
    lua_rawseti(lua_, -2, 1);
    lua_pushlstring(lua_, pattern.data(), pattern.size());
    lua_rawseti(lua_, -2, 2);
    lua_setglobal(lua_, "ARGV");
    REQUIRE(luaL_dostring(lua_, body.c_str()) == LUA_OK);
    std::size_t bytes = 0;
    const char* const text = lua_tolstring(lua_, -1, &bytes);
    const std::string result(text, bytes);
    lua_settop(lua_, 0);
    return result;
  }

 private:
  lua_State* lua_;
};

std::string random_text(Random& random, const std::vector<std::string>& parts, std::size_t max) {
  std::string text;
  for (std::size_t left = random.below(max + 1); left > 0; --left) {
    text += parts[random.below(parts.size())];
  }
  return text;
}

const std::vector<std::string> kSubjectParts = {"a", "a", "b", "c", "1", " ", "(",
                                                ")", "%", "^", "$", "]", "-", std::string(1, '\0')};
const std::vector<std::string> kPatternParts = {"a",
                                                "b",
                                                "c",
                                                "1",
                                                ".",
                                                "%a",
                                                "%d",
                                                "%W",
                                                "%s",
                                                "[ab]",
                                                "[^a]",
                                                "[%a]",
                                                "[]",
                                                "[^]]",
                                                "[a-c]",
                                                "(",
                                                ")",
                                                "()",
                                                "(a*)",
                                                "%1",
                                                "%2",
                                                "%b()",
                                                "%bab",
                                                "%f[a]",
                                                "%f",
                                                "*",
                                                "+",
                                                "-",
                                                "?",
                                                "^",
                                                "$",
                                                "%",
                                                "%%",
                                                "[",
                                                "]",
                                                "(.)",
                                                "%0",
                                                "[%]a]",
                                                "%z",
                                                "%g",
                                                std::string(1, '\0'),
                                                "[a-]"};

}  // namespace

TEST_CASE("random patterns match as with Lua's own functions") {
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  CAPTURE(seed);
  Random random(seed);
  StockLua stock;
  ScriptFixture script;
  struct Pair {
    std::string ours, reference;
  };
  const std::string prelude = kCalls;
  const std::array<Pair, 4> calls = {
      Pair{prelude + "return told(pcall(string.find, ARGV[1], ARGV[2]))", {}},
      Pair{prelude + "return told(pcall(string.match, ARGV[1], ARGV[2], #ARGV[1] // 2 + 1))", {}},
      Pair{prelude + "return told(pcall(function() local all = {} "
                     "local next = string.gmatch(ARGV[1], ARGV[2]) while true do "
                     "local captures = table.pack(next()) if captures.n == 0 then break end "
                     "for i = 1, captures.n do all[#all + 1] = tostring(captures[i]) end end "
                     "return table.concat(all, ';') end))",
           prelude + "return told(pcall(gmatch, ARGV[1], ARGV[2]))"},
      Pair{prelude + "return told(pcall(function() local s, n = "
                     "string.gsub(ARGV[1], ARGV[2], '<%0%1>') return s .. ';' .. n end))",
           prelude + "return told(pcall(gsub, ARGV[1], ARGV[2], '<%0%1>'))"}};
  std::size_t matched = 0;
  std::size_t failed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string subject = random_text(random, kSubjectParts, 12);
    const std::string pattern = random_text(random, kPatternParts, 6);
    CAPTURE(subject, pattern);
    for (const Pair& call : calls) {
      const std::string& reference = call.reference.empty() ? call.ours : call.reference;
      const protocol::Reply reply = script.run(call.ours, {}, {subject, pattern});
      const std::string ours(reply.text());
      const std::string theirs = stock(reference, subject, pattern);
      // The reference looks at all captures, also at those that the replacement does not name.
      if (!call.reference.empty() && theirs.starts_with("false")) continue;
      REQUIRE(ours == theirs);
      ++(ours.starts_with("true|nil") ? failed : matched);
    }
  }
  CHECK(matched > 10'000);
  CHECK(failed > 10'000);
}

TEST_CASE("matches of nothing, and starts beyond the end, are Lua 5.1's") {
  ScriptFixture script;
  CHECK(script("return {('abc'):gsub('%w*', 'x')}") == "[\"xx\", (integer) 2]");
  CHECK(script("local n = 0 for _ in ('a,b'):gmatch('[^,]*') do n = n + 1 end return n") ==
        "(integer) 4");
  CHECK(script("return {('abc'):find('', 10)}") == "[(integer) 4, (integer) 3]");
  CHECK(script("return {('abc'):find('b', -2.5)}") == "[(integer) 2, (integer) 2]");
  CHECK(script("return ('a.b'):gsub('%.', '%-')") == "\"a-b\"");
  CHECK(script("return ('ab'):gsub('a', {a = 2 / 1})") == "\"2b\"");
  CHECK(script("return ('ab'):gsub('b', function() end)") == "\"ab\"");
  CHECK(script("return ('^a^b'):gmatch('^.')()") == "\"^a\"");
  CHECK(script("return ('aaa'):gsub('a', 'b', 2.9)") == "\"bba\"");
}

TEST_CASE("wrong arguments of a match are told as by Lua") {
  ScriptFixture script;
  const auto error = [&](const std::string& call) {
    return script("return select(2, pcall(function() return " + call + " end))");
  };
  CHECK(error("('x'):gsub('x')") ==
        "\"user_script:1: bad argument #2 to 'gsub' (string/function/table expected, got no "
        "value)\"");
  CHECK(error("string.find('x')") ==
        "\"user_script:1: bad argument #2 to 'find' (string expected, got no value)\"");
  CHECK(error("('x'):gsub('x', function() return {} end)") ==
        "\"user_script:1: invalid replacement value (a table)\"");
  CHECK(error("('x'):rep(300):match(('x?'):rep(300))") == "\"user_script:1: pattern too complex\"");
}
