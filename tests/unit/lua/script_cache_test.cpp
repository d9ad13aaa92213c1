#include "lua/scripts/sha1_text.h"
#include "script_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock::lua;

TEST_CASE("a body is compiled once") {
  ScriptFixture script;
  const Script* const first = script.engine.load("return 1").script;
  CHECK(script.engine.load("return 1").script == first);
  CHECK(script.engine.script_count() == 1);
  CHECK(script.engine.load("return 2").script != first);
  CHECK(script.engine.script_count() == 2);
}

TEST_CASE("a script that was loaded is found by its SHA-1 in any case") {
  ScriptFixture script;
  CHECK(script.engine.find("e0e1f9fabfc9d4800c877a703b823ac0578ff8db") == nullptr);
  const Script* const loaded = script.engine.load("return 1").script;
  CHECK(loaded->sha1() == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
  CHECK(script.engine.find("e0e1f9fabfc9d4800c877a703b823ac0578ff8db") == loaded);
  CHECK(script.engine.find("E0E1F9FABFC9D4800C877A703B823AC0578FF8DB") == loaded);
  CHECK(script.engine.find("e0e1f9fabfc9d4800c877a703b823ac0578ff8d") == nullptr);
  CHECK(script.engine.find("") == nullptr);
}

TEST_CASE("flush forgets all scripts and gives the memory back") {
  ScriptFixture script;
  CHECK(script.engine.memory_bytes() == 0);
  const std::string sha1(script.engine.load("return 1").script->sha1());
  CHECK(script.engine.memory_bytes() > 0);
  script.engine.flush();
  CHECK(script.engine.script_count() == 0);
  CHECK(script.engine.memory_bytes() == 0);
  CHECK(script.engine.find(sha1) == nullptr);
  CHECK(script("return 1") == "(integer) 1");
  CHECK(script.engine.find("b70c2384248f88e6b75b9f89241a180f856ad852") != nullptr);  // known
}

TEST_CASE("scripts that come by EVAL push out the one that was used least recently") {
  Limits limits;
  limits.recent_scripts_max = 3;
  ScriptFixture script(limits);
  const auto is_there = [&](std::string_view body) {
    return script.engine.find(sha1_text(body)) != nullptr;
  };
  script.engine.load("return 0", Engine::Keep::until_flush);
  for (const char* body : {"return 1", "return 2", "return 3"}) script(body);
  script("return 1");
  script("return 4");
  CHECK(is_there("return 0"));
  CHECK(is_there("return 1"));
  CHECK_FALSE(is_there("return 2"));
  CHECK(is_there("return 3"));
  CHECK(is_there("return 4"));
  CHECK(script.engine.script_count() == 4);
}

TEST_CASE("a script that EVAL brought stays once SCRIPT LOAD names it") {
  Limits limits;
  limits.recent_scripts_max = 1;
  ScriptFixture script(limits);
  script("return 1");
  script.engine.load("return 1", Engine::Keep::until_flush);
  script("return 2");
  script("return 3");
  CHECK(script("return 1") == "(integer) 1");
  CHECK(script.engine.find(sha1_text("return 1")) != nullptr);
  CHECK(script.engine.find(sha1_text("return 2")) == nullptr);
}

TEST_CASE("any number of different scripts leaves the engine small and working") {
  ScriptFixture script;
  for (int i = 0; i < 3000; ++i) {
    const std::string body = fmt::format("local t = {{{}}} return t[1]", i);
    CHECK(script(body) == fmt::format("(integer) {}", i));
  }
  CHECK(script.engine.script_count() == 500);
  CHECK(script.engine.memory_bytes() < 4 * 1024 * 1024);
}

TEST_CASE("loaded scripts are refused before they leave no memory to run in") {
  Limits limits;
  limits.memory_bytes_max = 1024 * 1024;
  ScriptFixture script(limits);
  std::string error;
  for (int i = 0; i < 10'000 && error.empty(); ++i) {
    error = script.engine.load(fmt::format("return {}", i), Engine::Keep::until_flush).error;
  }
  CHECK(error == "ERR too many scripts are loaded, SCRIPT FLUSH forgets them");
  CHECK(script("return #('x'):rep(100000)") == "(integer) 100000");
  script.engine.flush();
  CHECK(script.engine.load("return 1", Engine::Keep::until_flush).error.empty());
}
