#include "base/text/guess.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace redlock {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above;
  std::vector<std::size_t> above(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, above[j] + 1, row[j - 1] + 1});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
    two_above = std::exchange(above, std::move(row));
  }
  return above[b.size()];
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
