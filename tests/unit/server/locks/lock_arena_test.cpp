#include "server/locks/lock_arena.h"

#include "base/random.h"

#include <cstring>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

char* bytes_of(LockArena& arena, LockRef ref) {
  return reinterpret_cast<char*>(&arena.at(ref));
}

}  // namespace

TEST_CASE("records keep their bytes while others come and go, and all memory comes back") {
  const std::uint64_t seed = 1;
  INFO("seed " << seed);
  Random random(seed);
  LockArena arena;
  std::map<LockRef, std::pair<std::size_t, char>> live;
  for (int step = 0; step < 20'000; ++step) {
    if (live.empty() || random.below(5) < 3) {
      const std::size_t bytes = 32 + random.below(random.below(20) == 0 ? 20'000 : 200);
      const char mark = static_cast<char>(random());
      const LockRef ref = arena.allocate(bytes);
      REQUIRE(ref != 0);
      REQUIRE(!live.contains(ref));
      std::memset(bytes_of(arena, ref), mark, bytes);
      live[ref] = {bytes, mark};
    } else {
      auto it = live.begin();
      std::advance(it, static_cast<long>(random.below(live.size())));
      const auto [bytes, mark] = it->second;
      const char* held = bytes_of(arena, it->first);
      REQUIRE(held[0] == mark);
      REQUIRE(held[bytes - 1] == mark);
      arena.free(it->first, bytes);
      live.erase(it);
    }
  }
  for (const auto& [ref, record] : live) arena.free(ref, record.first);
  // A chunk stays for each class of records that were seen, no more.
  CHECK(arena.bytes() <= 100 * 64 * 1024);
}

TEST_CASE("a record is given the memory that the last one of its size gave back") {
  LockArena arena;
  const LockRef first = arena.allocate(88);
  arena.free(first, 88);
  const std::size_t before = arena.bytes();
  for (int i = 0; i < 1000; ++i) {
    const LockRef again = arena.allocate(85);
    CHECK(again == first);
    arena.free(again, 85);
  }
  CHECK(arena.bytes() == before);
}

TEST_CASE("sizes of one class share room, others do not") {
  CHECK(LockArena::same_room(81, 88));
  CHECK_FALSE(LockArena::same_room(88, 89));
  CHECK(LockArena::same_room(513, 576));
  CHECK_FALSE(LockArena::same_room(576, 577));
  CHECK(LockArena::same_room(9000, 9000));
  CHECK_FALSE(LockArena::same_room(9000, 9001));
}
