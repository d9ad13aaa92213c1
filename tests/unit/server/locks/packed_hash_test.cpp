#include "server/locks/packed_hash.h"

#include "base/random.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string packed(const Pairs& pairs) {
  HashFields fields;
  for (const auto& [name, value] : pairs) fields.set(name, value);
  return fields.pack();
}

Pairs unpacked(std::string_view bytes) {
  Pairs pairs;
  PackedHash(bytes).for_each(
      [&](const HashField& field) { pairs.emplace_back(field.name, field.value); });
  return pairs;
}

}  // namespace

TEST_CASE("fields lie behind each other in the order in which they came") {
  const std::string bytes = packed({{"alice", "1"}, {"bob", ""}});
  CHECK(bytes == std::string("\x02\0\0\0\x05\x01"
                             "alice1"
                             "\x03\0"
                             "bob",
                             17));
  CHECK(PackedHash(bytes).count() == 2);
  CHECK(PackedHash(bytes).find("alice") == "1");
  CHECK(PackedHash(bytes).find("bob") == "");
  CHECK_FALSE(PackedHash(bytes).find("b"));
  CHECK(unpacked(bytes) == Pairs{{"alice", "1"}, {"bob", ""}});
}

TEST_CASE("a field that is set again keeps its place, one that comes back is the last") {
  const std::string first = packed({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  HashFields fields((PackedHash(first)));
  CHECK_FALSE(fields.set("b", "longer than before"));
  CHECK(fields.remove("a"));
  CHECK_FALSE(fields.remove("a"));
  CHECK(fields.set("a", "4"));
  CHECK(fields.count() == 3);
  CHECK(unpacked(fields.pack()) == Pairs{{"b", "longer than before"}, {"c", "3"}, {"a", "4"}});
}

TEST_CASE("lengths of one, two and three bytes are told exactly") {
  for (const std::size_t size : {0u, 127u, 128u, 16'383u, 16'384u, 70'000u}) {
    const std::string text(size, 't');
    const std::string bytes = packed({{text, "v"}, {"f" + text, text}});
    CHECK(is_packed_hash(bytes));
    CHECK(PackedHash(bytes).find(text) == "v");
    CHECK(PackedHash(bytes).find("f" + text) == text);
    HashFields fields((PackedHash(bytes)));
    CHECK(fields.packed_bytes() == bytes.size());
    CHECK(fields.pack() == bytes);
  }
}

TEST_CASE("the mark of a hash that was too large for a list is set where Redis would") {
  const std::string longest(kListTextBytesMax, 't');
  CHECK_FALSE(PackedHash(packed({{longest, longest}})).was_large());
  CHECK(PackedHash(packed({{longest + "t", "v"}})).was_large());
  CHECK(PackedHash(packed({{"f", longest + "t"}})).was_large());

  HashFields fields;
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= kListFieldsMax; ++i) names.push_back(std::to_string(i));
  for (std::size_t i = 0; i < kListFieldsMax; ++i) fields.set(names[i], "v");
  CHECK_FALSE(PackedHash(fields.pack()).was_large());
  fields.set(names.back(), "v");
  const std::string large = fields.pack();
  CHECK(PackedHash(large).was_large());

  HashFields shrunk((PackedHash(large)));
  for (std::size_t i = 1; i <= kListFieldsMax; ++i) shrunk.remove(names[i]);
  const std::string small = shrunk.pack();
  CHECK(PackedHash(small).count() == 1);
  CHECK(PackedHash(small).was_large());
}

TEST_CASE("bytes that are no hash are told from those that are one") {
  const std::string good = packed({{"alice", "1"}, {"bob", std::string(200, 'v')}});
  CHECK(is_packed_hash(good));
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK_FALSE(is_packed_hash(good.substr(0, size)));
  }
  CHECK_FALSE(is_packed_hash(good + "x"));
  CHECK_FALSE(is_packed_hash(std::string("\0\0\0\0", 4)));  // no field
  CHECK_FALSE(is_packed_hash("\x01"));
  CHECK_FALSE(is_packed_hash(std::string("\x01\0\0\0\xff\xff\xff\xff\xff\x01", 10)));
  CHECK_FALSE(is_packed_hash(std::string("\x01\0\0\0\x7f\x7f", 6)));
}

TEST_CASE("whatever damage bytes have, looking at those taken for a hash stays within them") {
  const std::uint64_t seed = 11;
  INFO("seed " << seed);
  Random random(seed);
  const std::string good = packed({{"alice", "1"}, {"bob", "22"}, {"", ""}});
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good.substr(0, 1 + random.below(good.size()));
    bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    if (!is_packed_hash(bytes)) continue;
    ++taken;
    REQUIRE(unpacked(bytes).size() == PackedHash(bytes).count());
  }
  CHECK(taken > 0);
}

TEST_CASE("a hash agrees with a list of pairs under random changes, few and many at a time") {
  const std::uint64_t seed = 5;
  INFO("seed " << seed);
  Random random(seed);
  Pairs model;
  std::string bytes;
  const auto place = [&](const std::string& name) {
    return std::find_if(model.begin(), model.end(), [&](auto& pair) { return pair.first == name; });
  };
  for (int round = 0; round < 2'000; ++round) {
    HashFields fields = bytes.empty() ? HashFields() : HashFields(PackedHash(bytes));
    std::vector<std::string> texts(2 * random.below(40));  // they outlive the changes
    for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
      const std::string& name = texts[i] = std::to_string(random.below(60));
      const std::string& value = texts[i + 1] = std::string(random.below(300), 'v');
      const auto known = place(name);
      REQUIRE(fields.find(name).has_value() == (known != model.end()));
      if (random.below(2) == 0) {
        REQUIRE(fields.remove(name) == (known != model.end()));
        if (known != model.end()) model.erase(known);
      } else {
        REQUIRE(fields.set(name, value) == (known == model.end()));
        known != model.end() ? void(known->second = value) : void(model.emplace_back(name, value));
      }
    }
    REQUIRE(fields.count() == model.size());
    bytes = fields.count() > 0 ? fields.pack() : "";
    if (bytes.empty()) continue;
    REQUIRE(is_packed_hash(bytes));
    REQUIRE(unpacked(bytes) == model);
  }
}
