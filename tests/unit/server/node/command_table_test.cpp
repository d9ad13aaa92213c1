#include "server/node/command_table.h"

#include "server/commands/families.h"
#include "server/node/packed_name.h"

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock::server;

namespace {

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// What is found for these words; "" for nothing.
std::string found(CommandTable& table, const std::vector<std::string_view>& words) {
  const CommandTable::Entry* entry = table.find(words).entry;
  return entry == nullptr ? "" : std::string(entry->command->spec.name);
}

}  // namespace

TEST_CASE("every command is found by its name in any case") {
  CommandTable table(all_families());
  REQUIRE(table.specs().size() > 100);
  for (const auto* spec : table.specs()) {
    const std::string_view name = spec->name;
    CAPTURE(name);
    const std::size_t bar = name.find('|');
    const std::string upper = upper_case(name);
    if (bar == std::string_view::npos) {
      CHECK(found(table, {name}) == name);
      CHECK(found(table, {upper}) == name);
    } else {
      CHECK(found(table, {name.substr(0, bar), name.substr(bar + 1)}) == name);
      CHECK(found(table, {upper.substr(0, bar), upper.substr(bar + 1)}) == name);
    }
  }
}

TEST_CASE("what is no command's name is not found") {
  CommandTable table(all_families());
  for (const std::string_view name : {"", "ge", "gett", "client|list", "|", "g e",
                                      "\x87"
                                      "et",
                                      "notify-keyspace-events-of-some-length"}) {
    CAPTURE(name);
    CHECK(found(table, {name, "k"}).empty());
  }
  CHECK(found(table, {"client", "no such"}).empty());
  CHECK(found(table, {"client", std::string(100, 'x')}).empty());
}

TEST_CASE("packed names are equal when the names are, in ASCII's two cases") {
  const std::string all = "@AZ[`az{0_-.\x80\xc1";
  for (std::size_t size = 1; size <= PackedName::kBytesMax; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (const char x : all) {
        for (const char y : all) {
          std::string a(size, 'q');
          std::string b = a;
          a[place] = x;
          b[place] = y;
          CHECK((PackedName(a) == PackedName(b)) == (upper_case(a) == upper_case(b)));
        }
      }
    }
  }
  CHECK(PackedName("aaaaaaaa") != PackedName("aaaaaaaaa"));
}
