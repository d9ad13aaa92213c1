#include "server/grants/key_list.h"

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

TEST_CASE("a list can be thinned to what is wanted, each once") {
  KeyList keys;
  for (int i = 0; i < 100; ++i) keys.add(i % 2 == 0 ? "printer" : std::to_string(i % 3));
  const std::size_t before = keys.bytes();
  keys.thin_out([](const std::string& key) { return key != "1"; });
  CHECK(keys.bytes() < before / 20);
  REQUIRE(keys.all().size() == 3);
  CHECK(keys.all()[0] == "0");
  CHECK(keys.all()[1] == "2");
  CHECK(keys.all()[2] == "printer");
  keys.add("lamp");
  CHECK(keys.all().size() == 4);
}

TEST_CASE("no memory is kept of long keys") {
  KeyList keys;
  keys.add(std::string(KeyList::kShortKeyBytesMax, 'x'));
  keys.clear();
  CHECK(keys.kept() == 1);
  keys.add(std::string(KeyList::kShortKeyBytesMax + 1, 'x'));
  CHECK(keys.bytes() > KeyList::kShortKeyBytesMax);
  keys.clear();
  CHECK(keys.kept() == 0);
  CHECK(keys.bytes() == 0);
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
