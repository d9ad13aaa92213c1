// Words and lines of text, as settings, lists and commands have them.
#pragma once

#include <string_view>

namespace redlock {

// What separates words: C's blanks, and the byte 0 that a file in another encoding is full of.
inline constexpr std::string_view kWordBlanks{" \t\n\v\f\r\0", 7};

// The text without the blanks at its two ends.
std::string_view trimmed(std::string_view text);

// Takes the first line off the text: without its '\n', which the last line need not have.
std::string_view take_line(std::string_view& text);

// ASCII, as in the protocol: never the locale's.
bool equals_ignoring_case(std::string_view a, std::string_view b);

}  // namespace redlock
