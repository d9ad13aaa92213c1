// The page of the files beside it, as embed.cmake makes it: what stands before its body, and after.
#pragma once

#include <string_view>

namespace redlock::coordinator {

extern const std::string_view kBenchPageBegin;
extern const std::string_view kBenchPageEnd;

}  // namespace redlock::coordinator
