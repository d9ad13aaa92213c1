#include "lua/library/number_text.h"

#include <catch2/catch.hpp>

using namespace redlock::lua;

namespace {

std::string written(double number) {
  NumberBuffer buffer;
  return std::string(number_text(number, buffer));
}

}  // namespace

TEST_CASE("a float is written as the shortest text that reads back the same") {
  CHECK(written(3.0) == "3");
  CHECK(written(-3.0) == "-3");
  CHECK(written(-0.0) == "0");
  CHECK(written(0.1) == "0.1");
  CHECK(written(1.5) == "1.5");
  CHECK(written(1e15) == "1000000000000000");
  CHECK(written(9007199254740992.0) == "9007199254740992");
  CHECK(written(1e20) == "1e+20");
  CHECK(written(1.0 / 3) == "0.3333333333333333");
  CHECK(written(-9223372036854775808.0) == "-9223372036854775808");
  CHECK(written(9223372036854775808.0) == "9223372036854775808");
  CHECK(written(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("an integer is written whole") {
  NumberBuffer buffer;
  CHECK(number_text(std::int64_t{INT64_MIN}, buffer) == "-9223372036854775808");
  CHECK(number_text(std::int64_t{0}, buffer) == "0");
}

TEST_CASE("only integral values that fit count as integers") {
  std::int64_t integer = 7;
  CHECK(fits_int64(-2.0, &integer));
  CHECK(integer == -2);
  for (const double number :
       {0.5, 9223372036854775808.0, 1e300, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_FALSE(fits_int64(number, &integer));
  }
}
