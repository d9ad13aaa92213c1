#include "coordinator/link/ring.h"

#include "base/random.h"

#include <deque>
#include <memory>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("a ring is what a deque is, from both ends, whatever comes and goes") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Random random(seed);
  Ring<std::unique_ptr<int>> ring;
  std::deque<int> model;
  for (int step = 0; step < 4000; ++step) {
    // It grows for a while, and empties for a while.
    const bool is_filling = (step / 500) % 2 == 0;
    if (random.below(10) < (is_filling ? 7u : 3u)) {
      if (random.below(4) == 0) {
        ring.push_front(std::make_unique<int>(step));
        model.push_front(step);
      } else {
        ring.push_back(std::make_unique<int>(step));
        model.push_back(step);
      }
    } else if (!model.empty()) {
      CHECK(*ring.take_front() == model.front());
      model.pop_front();
    }
    REQUIRE(ring.size() == model.size());
    REQUIRE(ring.empty() == model.empty());
    if (model.empty()) continue;
    REQUIRE(*ring.front() == model.front());
    REQUIRE(*ring.back() == model.back());
    const std::size_t nth = random.below(model.size());
    REQUIRE(*ring[nth] == model[nth]);
  }
}

TEST_CASE("a ring that was moved from is empty, and may be used again") {
  Ring<int> ring;
  for (int i = 0; i < 20; ++i) ring.push_back(int(i));
  Ring<int> taken = std::exchange(ring, {});
  CHECK(ring.empty());
  CHECK(taken.size() == 20);
  ring.push_back(7);
  CHECK(ring.take_front() == 7);
  CHECK(taken.take_front() == 0);
}
