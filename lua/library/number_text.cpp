#include "lua/library/number_text.h"

#include <charconv>
#include <cmath>

namespace redlock::lua {
namespace {

template <class Number>
std::string_view written(Number number, NumberBuffer& buffer) {
  char* const begin = buffer.data();
  const std::to_chars_result result = std::to_chars(begin, begin + buffer.size(), number);
  return {begin, static_cast<std::size_t>(result.ptr - begin)};
}

}  // namespace

bool fits_int64(double number, std::int64_t* integer) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (!(number >= -kTwoTo63 && number < kTwoTo63)) return false;  // NaN as well
  if (std::trunc(number) != number) return false;
  *integer = static_cast<std::int64_t>(number);
  return true;
}

std::string_view number_text(std::int64_t number, NumberBuffer& buffer) {
  return written(number, buffer);
}

std::string_view number_text(double number, NumberBuffer& buffer) {
  std::int64_t integer = 0;
  if (fits_int64(number, &integer)) return written(integer, buffer);
  return written(number, buffer);
}

}  // namespace redlock::lua
