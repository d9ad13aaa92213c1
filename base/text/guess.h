// The word that somebody may have meant, for "did you mean …?".
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace redlock {

// How many letters to change, add, take away or swap with the next to make one word of the other
// (optimal string alignment, the restricted Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The one of the words that is at most two slips from this one, and not half another; empty: none
// is. A word of more than 64 bytes is no slip.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words);

}  // namespace redlock
