#include "protocol/catalogue/glob.h"

#include <cstddef>
#include <utility>

namespace redlock::protocol {
namespace {

// Matches single bytes against single elements of a pattern: a literal, a '?', a class.
class Elements {
 public:
  Elements(std::string_view pattern, LetterCase letter_case)
      : pattern_(pattern), letter_case_(letter_case) {}

  // Whether the element at `position` takes this byte; if so, `position` moves behind the element.
  bool take(std::size_t& position, char byte) {
    const unsigned char wanted = folded(byte);
    std::size_t at = position;
    bool matches = true;
    if (pattern_[at] == '[') {
      matches = class_has(at, wanted);
    } else if (pattern_[at] != '?') {
      if (pattern_[at] == '\\' && at + 1 < pattern_.size()) ++at;
      matches = folded(pattern_[at]) == wanted;
      ++at;
    } else {
      ++at;
    }
    looked_at_ += at - position;
    if (matches) position = at;
    return matches;
  }
  // How many bytes of the pattern, those that were looked at again each time.
  std::size_t looked_at() const { return looked_at_; }

 private:
  // `at` stands on the '[' and ends behind the ']'.
  // A class that is longer than kGlobStepsMax has nothing.
  bool class_has(std::size_t& at, unsigned char wanted) const {
    const std::size_t end_max = at + kGlobStepsMax;
    ++at;
    const bool is_negated = at < pattern_.size() && pattern_[at] == '^';
    if (is_negated) ++at;
    bool found = false;
    while (at < pattern_.size() && pattern_[at] != ']') {
      if (at > end_max) return false;
      const std::size_t left = pattern_.size() - at;
      if (left >= 2 && pattern_[at] == '\\') {
        found |= folded(pattern_[at + 1]) == wanted;
        at += 2;
      } else if (left >= 3 && pattern_[at + 1] == '-') {
        auto first = folded(pattern_[at]);
        auto last = folded(pattern_[at + 2]);
        if (first > last) std::swap(first, last);
        found |= first <= wanted && wanted <= last;
        at += 3;
      } else {
        found |= folded(pattern_[at]) == wanted;
        ++at;
      }
    }
    if (at < pattern_.size()) ++at;
    return found != is_negated;
  }

  unsigned char folded(char c) const {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (letter_case_ == LetterCase::ignored && is_upper) c = static_cast<char>(c - 'A' + 'a');
    return static_cast<unsigned char>(c);
  }

  std::string_view pattern_;
  LetterCase letter_case_;
  std::size_t looked_at_ = 0;
};

// Only the last star seen is ever tried again, with one byte more: had an earlier star taken more,
// the later one could have taken that much less. So nothing is exponential.
bool matches(Elements& elements, std::string_view pattern, std::string_view text) {
  if (text.empty()) return pattern.empty();  // no star takes it, as in Redis
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  std::size_t behind_star = kNone;  // in the pattern
  std::size_t star_ends = 0;        // in the text: what the star has taken so far
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      behind_star = ++in_pattern;
      star_ends = in_text;
    } else if (in_pattern < pattern.size() && elements.take(in_pattern, text[in_text])) {
      ++in_text;
    } else if (behind_star != kNone && elements.looked_at() <= kGlobStepsMax) {
      in_pattern = behind_star;
      in_text = ++star_ends;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == kNone;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text, LetterCase letter_case) {
  std::size_t steps = 0;
  return glob_matches(pattern, text, steps, letter_case);
}

bool glob_matches(std::string_view pattern, std::string_view text, std::size_t& steps,
                  LetterCase letter_case) {
  Elements elements(pattern, letter_case);
  const bool does_match = matches(elements, pattern, text);
  steps += elements.looked_at();
  return does_match;
}

}  // namespace redlock::protocol
