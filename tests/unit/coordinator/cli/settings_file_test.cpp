#include "coordinator/cli/settings_file.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("redlock.conf is lines of name and value; each value knows its place") {
  GivenSettings settings;
  REQUIRE(
      add_settings_file("redlock.conf", "# nodes\n\nnodes a:1,b:2, c:3\r\n  ttl\t10s\n", settings));
  CHECK(settings.find("nodes")->value == "a:1,b:2, c:3");
  CHECK(settings.find("ttl")->value == "10s");
  CHECK(settings.find("ttl")->origin == "redlock.conf:4");
  CHECK(settings.find("wait") == nullptr);
}

TEST_CASE("an unknown name or a missing value ends with file, line and reason") {
  GivenSettings settings;
  CHECK_THAT(add_settings_file("f", "ttl 1s\ntll 1s", settings).error().text,
             Catch::StartsWith("f:2: 'tll' is no setting"));
  CHECK_THAT(add_settings_file("f", "\x1b[31m", settings).error().text,
             Catch::StartsWith("f:1: '\\x1b[31m' is no setting"));
  CHECK(add_settings_file("f", "ttl", settings).error().text == "f:1: ttl has no value");
}

TEST_CASE("what is set later wins") {
  GivenSettings settings;
  settings.set("nodes", {"a", "redlock.conf:1"});
  settings.set("nodes", {"b", "REDLOCK_NODES"});
  CHECK(settings.find("nodes")->value == "b");
}
