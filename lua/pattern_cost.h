// How much work a match of a Lua pattern can be, found out before it starts.
//
// Lua's matcher backtracks and cannot be interrupted: ("a"):rep(200) against "a*a*a*a*a*b" would
// run for minutes. Each repeated item (`*`, `+`, `-`) of a pattern can take any share of the
// subject, so with q of them there are C(n + q, q) ways to divide n bytes; a pattern that is not
// anchored by '^' starts at any byte, which counts like one more. A repetition that ends the
// pattern costs nothing: nothing behind it can fail.
#pragma once

#include <cstddef>
#include <string_view>

namespace redlock::lua {

// An upper bound on the steps of matching, or of a whole gsub or gmatch, over a subject of that
// many bytes. A step is about 10 ns.
double pattern_steps(std::string_view pattern, std::size_t subject_bytes);

// The same for a search without patterns: each place may have to compare the whole needle.
double plain_search_steps(std::size_t needle_bytes, std::size_t subject_bytes);

// Whether string.find takes the text as it stands, no character of it being special.
bool is_plain(std::string_view pattern);

}  // namespace redlock::lua
