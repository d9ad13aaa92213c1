#include "server/key_list.h"

#include <string>

#include <catch2/catch.hpp>

using redlock::server::KeyList;

TEST_CASE("keys are listed in their order, one that comes twice in a row once") {
  KeyList keys;
  for (const char* key : {"printer", "printer", "lamp", "printer"}) keys.add(key);
  REQUIRE(keys.all().size() == 3);
  CHECK(keys.all()[0] == "printer");
  CHECK(keys.all()[2] == "printer");
  keys.clear();
  CHECK(keys.empty());
  keys.add("printer");
  CHECK(keys.all().size() == 1);
}

TEST_CASE("a script that names many keys leaves no memory taken") {
  KeyList keys;
  for (std::size_t i = 0; i < KeyList::kKeptMax; ++i) keys.add(std::to_string(i));
  keys.clear();
  CHECK(keys.kept() == KeyList::kKeptMax);
  for (std::size_t i = 0; i <= KeyList::kKeptMax; ++i) keys.add(std::to_string(i));
  keys.clear();
  CHECK(keys.kept() == 0);
}
