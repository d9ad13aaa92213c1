#include "server/locks/fence.h"

#include <array>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

std::string other_slot_than(std::string_view key) {
  for (int i = 0;; ++i) {
    std::string other = fmt::format("other{}", i);
    if (Fence::slot_of(other) != Fence::slot_of(key)) return other;
  }
}

}  // namespace

TEST_CASE("every grant of a key gets a larger number (rule F2)") {
  Fence fence({.first = 100, .bound = 200, .fenced = true});
  CHECK(fence.grant("printer") == 101);
  CHECK(fence.grant("printer") == 102);
  CHECK(fence.grant(other_slot_than("printer")) == 101);
  CHECK(fence.largest() == 102);
  CHECK(fence.proposal_of(102) == 102);
}

TEST_CASE("no counter passes the bound: a grant there has H + 1 and no proposal (rule F1)") {
  Fence fence({.first = 9, .bound = 10, .fenced = true});
  CHECK(fence.grant("printer") == 10);
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t token = fence.grant("printer");
    CHECK(token == 11);
    CHECK(fence.proposal_of(token) == 0);
  }
  CHECK(fence.largest() == 10);
  fence.raise_bound(20);
  CHECK(fence.bound() == 20);
  CHECK(fence.grant("printer") == 11);
}

TEST_CASE("a confirmed token raises its slot's counter, and no other; none falls (rules F3, F8)") {
  Fence fence({.first = 0, .bound = 1000, .fenced = true});
  fence.reach("printer", 500);
  CHECK(fence.grant("printer") == 501);
  fence.reach("printer", 7);
  CHECK(fence.grant("printer") == 502);
  CHECK(fence.grant(other_slot_than("printer")) == 1);
}

TEST_CASE("an unfenced node counts and proposes nothing, until it is admitted (rule F6)") {
  Fence fence({.first = 0, .bound = 1000, .fenced = false});
  CHECK(fence.proposal_of(fence.grant("printer")) == 0);
  fence.reach("printer", 40);
  CHECK(fence.grant("printer") == 41);  // it remembers what it confirmed
  fence.reach_everywhere(30);
  fence.set_fenced(true);
  CHECK(fence.grant("printer") == 42);  // an admission never lowers
  const std::uint64_t other = fence.grant(other_slot_than("printer"));
  CHECK(other == 31);
  CHECK(fence.proposal_of(other) == 31);
}

TEST_CASE("an admission raises the counter of every slot (rule F6)") {
  Fence fence({.first = 0, .bound = 1000, .fenced = false});
  fence.reach_everywhere(30);
  std::set<std::size_t> slots;
  for (int i = 0; slots.size() < Fence::kSlots; ++i) {
    const std::string key = fmt::format("key{}", i);
    if (slots.insert(Fence::slot_of(key)).second) CHECK(fence.grant(key) == 31);
  }
}

TEST_CASE("a token more than 2^32 above the counter is a leap (rule F1)") {
  Fence fence({.first = 5, .bound = kTokenMax, .fenced = true});
  CHECK_FALSE(fence.leaps_too_far("printer", 5 + kLeapMax));
  CHECK(fence.leaps_too_far("printer", 6 + kLeapMax));
  CHECK_FALSE(fence.leaps_too_far("printer", 1));
}

TEST_CASE("the slot of a key is the same on every node and in every version") {
  CHECK(Fence::slot_of("printer") == 1005);
  CHECK(Fence::slot_of("redlock:report:2026") == 195);
  CHECK(Fence::slot_of("a") == 543);
  CHECK(Fence::slot_of("") == 194);
  std::size_t slots = 0;
  std::array<bool, Fence::kSlots> seen{};
  for (int i = 0; i < 20'000; ++i) {
    bool& slot = seen[Fence::slot_of(fmt::format("key{}", i))];
    slots += slot ? 0 : 1;
    slot = true;
  }
  CHECK(slots == Fence::kSlots);
}
