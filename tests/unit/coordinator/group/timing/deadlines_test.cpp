#include "coordinator/group/timing/deadlines.h"

#include "base/random.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("deadlines come earliest first, but for those of whom nobody is left") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Random random(seed);
  Deadlines deadlines;
  std::multimap<Instant, std::uint32_t> alive;
  std::set<std::uint32_t> over;
  const auto is_over = [&over](OperationId id) { return over.contains(id.slot); };
  Instant now(1s);
  for (std::uint32_t next = 1; next < 3000; ++next) {
    now += std::chrono::microseconds(random.below(50));
    // Most wait equally long.
    const Duration wait = random.below(5) == 0 ? Duration(random.below(9'000'000)) : Duration(5ms);
    deadlines.add({now + wait, {.slot = next, .generation = 1}}, is_over);
    alive.emplace(now + wait, next);
    // Many are over before their time.
    if (random.below(3) > 0) {
      auto ended = alive.begin();
      std::advance(ended, random.below(alive.size()));
      over.insert(ended->second);
      alive.erase(ended);
    }
    while (!deadlines.empty()) {
      const Deadlines::Deadline earliest = deadlines.earliest();
      if (!is_over(earliest.operation)) {
        REQUIRE(!alive.empty());
        REQUIRE(earliest.when == alive.begin()->first);
        if (earliest.when > now) break;
        const auto same = alive.equal_range(earliest.when);
        const auto found = std::find_if(same.first, same.second, [&](const auto& one) {
          return one.second == earliest.operation.slot;
        });
        REQUIRE(found != same.second);
        alive.erase(found);
      }
      deadlines.drop_earliest();
    }
  }
  REQUIRE(alive.empty() == deadlines.empty());
}
