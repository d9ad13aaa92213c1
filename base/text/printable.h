// Text that somebody else wrote, on its way to a terminal, a log or an error.
#pragma once

#include <string>
#include <string_view>

namespace redlock {

// Whether the text can be shown as it is: UTF-8 without control characters, nor those that turn the
// direction of writing and so can make a line look like another.
bool is_printable(std::string_view text);

// The text with each byte that is not printable as \xHH: no escape sequence reaches a terminal, and
// no line end makes a second line of a log.
std::string printable(std::string_view text);

}  // namespace redlock
