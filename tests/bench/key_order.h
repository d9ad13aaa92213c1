// Which keys a run asks for, in which order: from a seed, so that both servers meet the same, and a
// later run can ask for the same keys in another order.
#pragma once

#include <cstdint>
#include <vector>

namespace redlock::bench {

enum class Draw {
  random,  // each evenly from all keys: some twice, some never
  once,    // no key twice
};

struct KeyPlan {
  std::uint32_t keys = 1'000'000;    // lock:000000000000 and so on
  std::uint32_t rounds = 1'000'000;  // how many are asked for; at most `keys` for Draw::once
  Draw draw = Draw::random;
  std::uint64_t seed = 1;   // which keys
  std::uint64_t order = 1;  // in which order
};

std::vector<std::uint32_t> key_order(const KeyPlan& plan);

// How many different keys that is.
std::uint64_t distinct_keys(const std::vector<std::uint32_t>& order, std::uint32_t keys);

}  // namespace redlock::bench
