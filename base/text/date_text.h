// Dates in words.
#pragma once

#include <cstdint>
#include <string>

namespace redlock {

// seconds: of the wall clock, since 1970; format: strftime's, at most 64 bytes of text come of it.
//
// Not fmt's: its dates set up every part of the C++ library's locales, which a node then holds in
// memory for as long as it runs, for its first line of log.
std::string utc_text(std::int64_t seconds, const char* format);

}  // namespace redlock
