// A Lua number as a word of a command.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace redlock::lua {

using NumberBuffer = std::array<char, 32>;

// Decimal digits.
std::string_view number_text(std::int64_t number, NumberBuffer& buffer);

// An integral value that fits 64 bits is written as an integer ("3", never "3.0"), any other in the
// shortest form that reads back the same ("0.1", "1e+20", "inf", "nan"). Redis writes %.17g, so
// "0.10000000000000001".
std::string_view number_text(double number, NumberBuffer& buffer);

// True, with the integer, if the number is integral and fits.
bool fits_int64(double number, std::int64_t* integer);

}  // namespace redlock::lua
