#include "tests/bench/key_order.h"

#include "base/random.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace redlock::bench {
namespace {

void shuffle(std::vector<std::uint32_t>& keys, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
}

}  // namespace

std::vector<std::uint32_t> key_order(const KeyPlan& plan) {
  std::vector<std::uint32_t> drawn(plan.draw == Draw::once ? plan.keys : plan.rounds);
  if (plan.draw == Draw::once) {
    std::iota(drawn.begin(), drawn.end(), 0U);
    shuffle(drawn, plan.seed);
    drawn.resize(plan.rounds);
  } else {
    Random random(plan.seed);
    for (std::uint32_t& key : drawn) key = static_cast<std::uint32_t>(random.below(plan.keys));
  }
  shuffle(drawn, plan.order);
  return drawn;
}

std::uint64_t distinct_keys(const std::vector<std::uint32_t>& order, std::uint32_t keys) {
  std::vector<bool> seen(keys);
  for (const std::uint32_t key : order) seen[key] = true;
  return static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), true));
}

}  // namespace redlock::bench
