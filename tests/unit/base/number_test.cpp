#include "base/text/number.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("a number is taken only in the form in which it would be printed") {
  CHECK(parse_int64("0") == 0);
  CHECK(parse_int64("-1") == -1);
  CHECK(parse_int64("9223372036854775807") == INT64_MAX);
  CHECK(parse_int64("-9223372036854775808") == INT64_MIN);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "01", "-0", "-01", "1.0", "0x1", "1e3",
                           "9223372036854775808", "-9223372036854775809"}) {
    CAPTURE(text);
    CHECK(parse_int64(text) == std::nullopt);
  }
}
