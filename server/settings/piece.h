// What a command does at most while nobody else is heard: work whose size others choose
// is done in pieces.
//
// Counted, not timed, so that the same commands do the same in every run. In steps of some
// nanoseconds: a byte of a glob pattern that is looked at is one.
#pragma once

#include <cstddef>
#include <limits>

namespace redlock::server {

// Some milliseconds.
inline constexpr std::size_t kStepsOfPiece = 512 * 1024;
// To visit a key, which memory has to fetch, and to copy its name.
inline constexpr std::size_t kStepsOfKey = 64;
// To begin or to end listening to a name: it stands in three trees, and is confirmed.
inline constexpr std::size_t kStepsOfSubscription = 512;
inline constexpr std::size_t kNamesOfPiece = kStepsOfPiece / kStepsOfSubscription;
// No piece: where others are kept out anyway.
inline constexpr std::size_t kAllAtOnce = std::numeric_limits<std::size_t>::max();

}  // namespace redlock::server
