#include "base/text/guess.h"

#include <algorithm>
#include <vector>

namespace redlock {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row_above(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row_above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row_above[0];
    row_above[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row_above[j];
      row_above[j] = std::min({changed, row_above[j] + 1, row_above[j - 1] + 1});
    }
  }
  return row_above[b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t kLongestGuess = 64;
  constexpr std::size_t kSlips = 2;
  std::string_view nearest;
  if (word.size() > kLongestGuess) return nearest;
  std::size_t least = kSlips + 1;
  for (const std::string_view known : words) {
    const std::size_t distance = edit_distance(word, known);
    if (distance >= std::min(least, known.size() / 2 + known.size() % 2)) continue;
    nearest = known;
    least = distance;
  }
  return nearest;
}

}  // namespace redlock
