// The files of the page, as embed.cmake makes them.
#pragma once

#include <string_view>

namespace redlock::coordinator {

extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;

}  // namespace redlock::coordinator
