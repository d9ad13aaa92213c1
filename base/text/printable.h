// Text that somebody else wrote, on its way to a terminal, a log or an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock {

// Control characters of ASCII and of Latin-1, and those of the bidirectional algorithm. All have
// one UTF-16 unit.
bool is_control(std::uint32_t code);

// Whether the text can be shown as it is: UTF-8 without control characters, nor those that turn the
// direction of writing and so can make a line look like another.
bool is_printable(std::string_view text);

// The text with each byte that is not printable as \xHH: no escape sequence reaches a terminal, and
// no line end makes a second line of a log.
std::string printable(std::string_view text);

// For one line of so many columns: what does not fit is left out, and ".." stands for it. A
// character of another alphabet counts as two columns, as the widest do. REQUIRES: printable text.
std::string cut_to_columns(std::string_view text, std::size_t columns);

// A name that somebody else chose, within a sentence: printable,
// and no longer than a sentence can bear.
std::string shown_name(std::string_view name);

}  // namespace redlock
