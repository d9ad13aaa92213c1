#include "lua/pattern_cost.h"

namespace redlock::lua {
namespace {

// Bytes of the item at the front: a character, an escape, or a set.
std::size_t item_bytes(std::string_view pattern) {
  if (pattern[0] == '%') return pattern.size() > 1 ? 2 : 1;
  if (pattern[0] != '[') return 1;
  std::size_t at = 1;
  if (at < pattern.size() && pattern[at] == '^') ++at;
  bool first = true;  // a ']' that comes first is a member
  while (at < pattern.size() && (first || pattern[at] != ']')) {
    at += pattern[at] == '%' && at + 1 < pattern.size() ? 2U : 1U;
    first = false;
  }
  return at < pattern.size() ? at + 1 : pattern.size();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// %1 compares a capture, %bxy runs to the matching bracket: each may look at the whole subject.
bool is_long_escape(std::string_view item) {
  return item.size() == 2 && item[0] == '%' && (item[1] == 'b' || is_digit(item[1]));
}

// What stands behind the last item may close captures; even '$' could fail, and send the matcher
// back.
bool is_end(std::string_view rest) {
  return rest.find_first_not_of(')') == std::string_view::npos;
}

struct Shape {
  int repetitions = 0;  // items that may take any share of the subject
  int optionals = 0;    // items with '?', which may take one byte or none
};

Shape shape_of(std::string_view pattern) {
  Shape shape;
  while (!pattern.empty()) {
    const std::size_t bytes = item_bytes(pattern);
    const bool long_escape = is_long_escape(pattern.substr(0, bytes));
    pattern.remove_prefix(bytes);
    if (long_escape) ++shape.repetitions;
    if (pattern.empty()) break;
    const char suffix = pattern[0];
    if (suffix != '*' && suffix != '+' && suffix != '-' && suffix != '?') continue;
    pattern.remove_prefix(1);
    if (is_end(pattern)) break;
    ++(suffix == '?' ? shape.optionals : shape.repetitions);
  }
  return shape;
}

// C(n + q, q)
double ways_to_divide(double n, int q) {
  double ways = 1;
  for (int i = 1; i <= q; ++i) ways *= (n + i) / i;
  return ways;
}

}  // namespace

double pattern_steps(std::string_view pattern, std::size_t subject_bytes) {
  const bool is_anchored = pattern.starts_with('^');
  const Shape shape = shape_of(is_anchored ? pattern.substr(1) : pattern);
  double steps =
      ways_to_divide(static_cast<double>(subject_bytes), shape.repetitions + (is_anchored ? 0 : 1));
  for (int i = 0; i < shape.optionals; ++i) steps *= 2;
  constexpr std::size_t kItemBytesPerStep = 8;  // each way compares the items between the repeated
  const std::size_t steps_per_way = 1 + pattern.size() / kItemBytesPerStep;
  return steps * static_cast<double>(steps_per_way);
}

double plain_search_steps(std::size_t needle_bytes, std::size_t subject_bytes) {
  constexpr std::size_t kBytesPerStep = 64;  // memcmp
  if (needle_bytes > subject_bytes) return 1;
  const std::size_t places = subject_bytes - needle_bytes + 1;
  const std::size_t steps_per_place = 1 + needle_bytes / kBytesPerStep;
  return static_cast<double>(places) * static_cast<double>(steps_per_place);
}

bool is_plain(std::string_view pattern) {
  return pattern.find_first_of("^$*+?.([%-") == std::string_view::npos;
}

}  // namespace redlock::lua
