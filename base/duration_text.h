// Durations as people write them in settings and on command lines.
#pragma once

#include "base/time.h"
#include <redlock/result.h>

#include <string>
#include <string_view>

namespace redlock {

// "1500" and "1500ms" are milliseconds; "30s", "5m", "1h", "2d". Whole, not negative, at most
// kDurationTextMax; the error says what is accepted.
Result<Duration> parse_duration(std::string_view text);

inline constexpr Duration kDurationTextMax = std::chrono::hours(24 * 365 * 100);

// The shortest of the forms above that is exact to the millisecond: "30s", "1500ms".
std::string duration_text(Duration d);

// For reading aloud in a message: "12.3 s", "250 ms".
std::string spoken_duration(Duration d);

}  // namespace redlock
