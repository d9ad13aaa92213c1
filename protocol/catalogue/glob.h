// Glob patterns as Redis reads them: KEYS, SCAN MATCH, CONFIG GET, COMMAND LIST, PSUBSCRIBE.
//
//   *       any bytes, also none          [abc]   one of these      [^abc]  none of these
//   ?       any one byte                  [a-z]   one of a range    \x      x itself
//
// Odd patterns mean what they mean to Redis: a class that is never closed ends with the pattern, a
// range may be given backwards, `[]` matches nothing, a backslash at the end is a backslash, and an
// empty text is matched by the empty pattern alone (KEYS and SCAN take `*` for all without asking).
//
// The time is at most length of the pattern × length of the text, whatever the number of stars, and
// kGlobStepsMax ends it: so no client can stop the node with a pattern.
#pragma once

#include <cstddef>
#include <string_view>

namespace redlock::protocol {

// So many bytes of the pattern are looked at, some of them again and again; what takes more does
// not match. That is half a millisecond, and enough for four bytes of pattern with the longest key,
// however they are chosen, or for 256 with a key of 1,000.
inline constexpr std::size_t kGlobStepsMax = 256 * 1024;
// Of a request that matches many names at once, each match kGlobStepsOfMatch beside its own: some
// 5 ms. Enough for CONFIG GET of 500 plain names.
inline constexpr std::size_t kGlobStepsOfMatch = 16;
inline constexpr std::size_t kGlobStepsOfManyMax = 2 * 1024 * 1024;
inline constexpr std::string_view kPatternsTakeTooLong =
    "ERR to match all names with this would hold everybody up: ask with fewer or shorter patterns";

enum class LetterCase { exact, ignored };  // ASCII alone

bool glob_matches(std::string_view pattern, std::string_view text,
                  LetterCase letter_case = LetterCase::exact);
// Counts what it looked at, for those who match many: a step is some nanoseconds.
bool glob_matches(std::string_view pattern, std::string_view text, std::size_t& steps,
                  LetterCase letter_case = LetterCase::exact);

}  // namespace redlock::protocol
