#include "server/locks/lock_arena.h"

#include "base/random.h"

#include <algorithm>
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
  // Of two classes of records that were seen a chunk stays, no more.
  CHECK(arena.bytes() <= 2 * 64 * 1024);
}

TEST_CASE("a record is given the memory that the last one of its size gave back") {
  LockArena arena;
  const LockRef first = arena.allocate(136);
  arena.free(first, 136);
  const std::size_t before = arena.bytes();
  for (int i = 0; i < 1000; ++i) {
    const LockRef again = arena.allocate(133);
    CHECK(again == first);
    arena.free(again, 133);
  }
  CHECK(arena.bytes() == before);
}

TEST_CASE("sizes that were seen before keep no chunk from one that comes and goes now") {
  LockArena arena;
  for (const std::size_t before : {40u, 41u, 42u}) arena.free(arena.allocate(before), before);
  const LockRef first = arena.allocate(97);
  arena.free(first, 97);
  const std::size_t dropped = arena.chunks_dropped();
  for (int i = 0; i < 1000; ++i) {
    const LockRef again = arena.allocate(97);
    CHECK(again == first);
    arena.free(again, 97);
  }
  CHECK(arena.chunks_dropped() == dropped);
  CHECK(arena.bytes() <= 2 * 64 * 1024);
}

TEST_CASE("sizes of one class share room, others do not") {
  CHECK_FALSE(LockArena::same_room(81, 82));
  CHECK(LockArena::same_room(82, 82));
  CHECK_FALSE(LockArena::same_room(128, 129));
  CHECK(LockArena::same_room(129, 136));
  CHECK_FALSE(LockArena::same_room(136, 137));
  CHECK(LockArena::same_room(505, 512));
  CHECK(LockArena::same_room(513, 576));
  CHECK_FALSE(LockArena::same_room(576, 577));
  CHECK(LockArena::same_room(9000, 9000));
  CHECK_FALSE(LockArena::same_room(9000, 9001));
}

TEST_CASE("a record has the room of its class, of whatever size") {
  for (std::size_t bytes = 24; bytes <= 10'000; ++bytes) {
    const std::size_t room = LockArena::room(bytes);
    REQUIRE(room >= bytes);
    REQUIRE(LockArena::same_room(bytes, room));
    REQUIRE(room - bytes < std::max<std::size_t>(bytes / 8, 8));
    if (bytes <= 128) REQUIRE(room == bytes);
  }
}
