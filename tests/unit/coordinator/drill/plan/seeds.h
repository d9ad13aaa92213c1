// How many plans of a drill a test looks at.
#pragma once

#include <cstdint>

namespace redlock::drill {

constexpr std::uint64_t kSeeds = 200;

}  // namespace redlock::drill
