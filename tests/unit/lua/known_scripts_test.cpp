#include "lua/scripts/known_scripts.h"

#include "lua/scripts/sha1_text.h"
#include "script_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock::lua;

TEST_CASE("each known script stands under the SHA-1 of its bytes") {
  for (const KnownScript& script : known_scripts()) {
    CHECK(script.sha1 == sha1_text(script.body));
    CHECK(known_script_body(script.sha1) == script.body);
  }
  CHECK(known_script_body("0000000000000000000000000000000000000000").empty());
}

TEST_CASE("a fresh engine runs every known script by its SHA-1") {
  for (const KnownScript& known : known_scripts()) {
    CAPTURE(known.body);
    ScriptFixture script;
    REQUIRE(script.engine.find(known.sha1) != nullptr);
    CHECK(script.engine.find(known.sha1)->body() == known.body);
  }
}

TEST_CASE("redis-py's release script releases for the holder only") {
  ScriptFixture script;
  script.host.values["lock"] = "alice";
  const std::string body(known_script_body("c3f8721cbb97f72bc19e972846bd7aaf91901658"));
  CHECK(script(body, {"lock"}, {"bob"}) == "(integer) 0");
  CHECK(script(body, {"lock"}, {"alice"}) == "(integer) 1");
  CHECK(script.host.values.empty());
}

TEST_CASE("redis-py's extend script adds up what is left and what is asked, as integers") {
  ScriptFixture script;
  script.host.values["lock"] = "alice";
  const std::string body(known_script_body("a4e8783852e6b949f9ef3a97212805108459a890"));
  CHECK(script(body, {"lock"}, {"alice", "500", "0"}) == "(integer) 1");
  CHECK(script.host.last_request == std::vector<std::string>{"pexpire", "lock", "1500"});
}

TEST_CASE("node-redlock's scripts take several keys") {
  ScriptFixture script;
  const std::string acquire(known_script_body("96da70f7716f27d278a5218544df37fd8b0a5e4c"));
  const std::string release(known_script_body("e4612211c9f8f51c257e26e056b0a654b3187242"));
  CHECK(script(acquire, {"a", "b"}, {"v", "1000"}) == "(integer) 2");
  CHECK(script(acquire, {"b", "c"}, {"w", "1000"}) == "(integer) 0");
  CHECK(script(release, {"a", "b", "c"}, {"v"}) == "(integer) 2");
}
