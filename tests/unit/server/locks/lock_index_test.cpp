#include "server/locks/lock_index.h"

#include "base/random.h"

#include <map>
#include <set>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

TEST_CASE("the index agrees with a map through growth, shrinking and collisions") {
  const std::uint64_t seed = 2;
  INFO("seed " << seed);
  Random random(seed);
  LockIndex index;
  std::map<LockRef, std::uint32_t> model;
  LockRef next = 1;
  for (const std::size_t target : {10u, 600u, 20'000u, 300u, 5'000u, 0u}) {
    while (model.size() != target) {
      if (model.size() < target) {
        // Few distinct hashes now and then, so that whole runs collide.
        const auto hash = static_cast<std::uint32_t>(random() << (random.below(8) == 0 ? 24 : 0));
        REQUIRE(index.insert(hash, next));
        model[next++] = hash;
      } else {
        auto victim = model.lower_bound(static_cast<LockRef>(random.below(next)));
        if (victim == model.end()) victim = model.begin();
        index.erase(victim->second, victim->first);
        model.erase(victim);
      }
    }
    REQUIRE(index.size() == target);
    for (const auto& [ref, hash] : model) {
      REQUIRE(index.find(hash, [&, wanted = ref](LockRef found) { return found == wanted; }) ==
              ref);
    }
    std::set<LockRef> seen;
    index.for_each([&](LockRef ref) { seen.insert(ref); });
    CHECK(seen.size() == target);
  }
  CHECK(index.bytes() < 2'000'000);  // 20,000 slots' segments are merged again
}

TEST_CASE("keys whose hashes are all equal fill a segment and are then refused, not lost") {
  LockIndex index;
  LockRef ref = 1;
  while (index.insert(0x12345678u, ref)) ++ref;
  CHECK(ref > 500);
  for (LockRef known = 1; known < ref; ++known) {
    REQUIRE(index.find(0x12345678u, [&](LockRef found) { return found == known; }) == known);
  }
}

TEST_CASE("a walk in parts meets what stays just once, through splits and merges") {
  const std::uint64_t seed = 8;
  INFO("seed " << seed);
  Random random(seed);
  for (const std::size_t size : {0u, 1u, 400u, 5'000u}) {
    LockIndex index;
    std::map<LockRef, std::uint32_t> model;
    LockRef next = 1;
    const auto add = [&] {
      const auto hash = static_cast<std::uint32_t>(random() << (random.below(8) == 0 ? 24 : 0));
      REQUIRE(index.insert(hash, next));
      model[next++] = hash;
    };
    while (model.size() < size) add();
    std::map<LockRef, std::uint32_t> stayed = model;
    std::map<LockRef, int> met;
    std::uint32_t from = 0;
    std::vector<LockRef> found;
    do {
      found.clear();
      const std::size_t count = 1 + random.below(30);
      from = index.scan(from, count, found);
      if (from != 0) REQUIRE(found.size() >= count);
      REQUIRE(found.size() <= count + 767);  // as many as share a hash
      for (const LockRef ref : found) {
        ++met[ref];
        REQUIRE((from == 0 || model.at(ref) < from));
      }
      const bool grows = met.size() / 1000 % 2 == 0;
      for (int i = 0; i < 40 && !model.empty(); ++i) {
        if (grows) {
          if (model.size() < 3 * size) add();
          continue;
        }
        auto victim = model.lower_bound(static_cast<LockRef>(random.below(next)));
        if (victim == model.end()) victim = model.begin();
        index.erase(victim->second, victim->first);
        stayed.erase(victim->first);
        model.erase(victim);
      }
    } while (from != 0);
    for (const auto& [ref, hash] : stayed) REQUIRE(met[ref] == 1);
    for (const auto& [ref, times] : met) REQUIRE(times <= 1);
  }
}

TEST_CASE("a walk tells those of one hash together, also at the end of the hashes") {
  LockIndex index;
  for (LockRef ref = 1; ref <= 100; ++ref) index.insert(ref <= 50 ? 7 : 0xffffffffu, ref);
  std::vector<LockRef> found;
  CHECK(index.scan(0, 1, found) == 8);
  CHECK(found.size() == 50);
  CHECK(index.scan(8, 1, found) == 0);
  CHECK(found.size() == 100);
  CHECK(index.scan(0xffffffffu, 1000, found) == 0);
  CHECK(found.size() == 150);
}

TEST_CASE("a record that moved is found at its new place alone") {
  LockIndex index;
  index.insert(7, 1);
  index.replace(7, 1, 2);
  CHECK(index.find(7, [](LockRef) { return true; }) == 2);
  CHECK(index.size() == 1);
}
