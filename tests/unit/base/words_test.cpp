#include "base/text/words.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("blanks at the ends are no part of a text, those within are") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(std::string_view("\0a\0", 3)) == "a");
  CHECK(trimmed(" \t ").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("a text is taken line by line, and its last line needs no end") {
  std::string_view text = "one\n\ntwo";
  CHECK(take_line(text) == "one");
  CHECK(take_line(text).empty());
  CHECK(take_line(text) == "two");
  CHECK(text.empty());
}

TEST_CASE("names are compared without regard to ASCII case") {
  CHECK(equals_ignoring_case("SetEx", "sETeX"));
  CHECK_FALSE(equals_ignoring_case("set", "sets"));
  CHECK_FALSE(equals_ignoring_case("set", "sey"));
}
