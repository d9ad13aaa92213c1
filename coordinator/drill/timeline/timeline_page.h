// The page of timeline/, as embed.cmake makes it: what stands before the history, and after it.
#pragma once

#include <string_view>

namespace redlock::drill {

extern const std::string_view kPageBegin;
extern const std::string_view kPageEnd;

}  // namespace redlock::drill
