#include "coordinator/front_door/records/known_locks.h"

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using coordinator::KnownLocks;

namespace {

constexpr Instant kStart{24h};

}  // namespace

TEST_CASE("what is known of a lock is known until its deadline") {
  KnownLocks known;
  known.remember("printer", {"alice", kStart + 10s}, kStart);
  REQUIRE(known.find("printer", kStart) != nullptr);
  CHECK(known.find("printer", kStart)->value == "alice");
  CHECK(known.find("scanner", kStart) == nullptr);
  known.remember("printer", {std::nullopt, kStart + 20s}, kStart);
  CHECK_FALSE(known.find("printer", kStart + 15s)->value.has_value());
  CHECK(known.find("printer", kStart + 20s) == nullptr);
  CHECK(known.size() == 0);
  CHECK(known.bytes() == 0);
}

TEST_CASE("of too many known locks the one that was used longest ago is forgotten") {
  KnownLocks known(3);
  for (const std::string key : {"a", "b", "c"}) known.remember(key, {"v", kStart + 10s}, kStart);
  CHECK(known.find("a", kStart) != nullptr);
  known.remember("d", {"v", kStart + 10s}, kStart);
  CHECK(known.size() == 3);
  CHECK(known.find("b", kStart) == nullptr);
  CHECK(known.find("a", kStart) != nullptr);
}

TEST_CASE("what is known takes so many bytes at most, and what is over goes first") {
  KnownLocks known(1000, 100'000);
  for (int i = 0; i < 100; ++i) {
    known.remember(fmt::format("k{}", i), {std::string(10'000, 'v'), kStart + 10s}, kStart);
    CHECK(known.bytes() <= 111'000);
  }
  const std::size_t size = known.size();
  CHECK(size < 11);
  for (int i = 0; i < 10; ++i) {
    known.remember(fmt::format("n{}", i), {"v", kStart + 60s}, kStart + 30s);
  }
  CHECK(known.size() == 10);
}
