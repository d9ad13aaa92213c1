// Durations as people write them in settings and on command lines.
#pragma once

#include "base/time.h"
#include <redlock/result.h>

#include <string>
#include <string_view>

namespace redlock {

// "30s", "1.5s", "500ms", "5m", "1h", "2d": digits, perhaps a point and more digits, and a unit.
// Not negative, at most kDurationTextMax. What is read is exact: a digit after the point must be
// worth a whole number of nanoseconds, so that a second has nine of them, a millisecond six. A
// whole number without a unit is milliseconds, as in Redis's settings.
// The error says what is accepted.
Result<Duration> parse_duration(std::string_view text);

// The same, but a number without a unit is an error that says so; only "0" needs none. For a
// command line: its flags stand beside those of tools where such a number is seconds.
Result<Duration> parse_duration_with_unit(std::string_view text);

inline constexpr Duration kDurationTextMax = std::chrono::hours(24 * 365 * 100);

// The shortest of the forms above that is exact to the millisecond: "30s", "1500ms".
std::string duration_text(Duration d);

// For reading aloud in a message: "12.3 s", "250 ms".
std::string spoken_duration(Duration d);

// The same to the second, and for longer ones to the minute or the hour: "17 s", "2 min 5 s",
// "3 h 10 min", "2 d 4 h". Rounded down.
std::string rough_duration(Duration d);

}  // namespace redlock
