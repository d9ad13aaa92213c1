// Dates in words.
#pragma once

#include "base/time.h"

#include <string>

namespace redlock {

// format: strftime's, at most 64 bytes of text come of it.
//
// Not fmt's: its dates set up every part of the C++ library's locales, which a node then holds in
// memory for as long as it runs, for its first line of log.
std::string utc_text(WallTime when, const char* format);
// The same with a point and three digits of the second behind it.
std::string utc_ms_text(WallTime when, const char* format);

}  // namespace redlock
