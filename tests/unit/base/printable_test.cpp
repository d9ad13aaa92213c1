#include "base/text/printable.h"

#include "base/log.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("text for people is shown as it is") {
  for (const std::string_view text : {"", "printer 7", "Drücker № 7 – 日本 🔒", "a\\b"}) {
    CAPTURE(text);
    CHECK(is_printable(text));
    CHECK(printable(text) == text);
  }
}

TEST_CASE("what would act on a terminal or forge a line is escaped") {
  CHECK(printable("\u061c") == "\\xd8\\x9c");  // it turns what follows, as U+202E does
  CHECK(printable("\x1b[2J\x1b]0;title\x07") == "\\x1b[2J\\x1b]0;title\\x07");
  CHECK(printable("one\r\ntwo\t3") == "one\\x0d\\x0atwo\\x093");
  CHECK(printable(std::string_view("a\0b\x7f", 4)) == "a\\x00b\\x7f");
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\xc2\\x9b2J");  // CSI as one character
  CHECK(printable("a\xe2\x80\xae"
                  "b") == "a\\xe2\\x80\\xaeb");           // right to left
  CHECK(printable("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");  // a line separator
  CHECK_FALSE(is_printable("a\nb"));
}

TEST_CASE("bytes that are no UTF-8 are escaped one by one") {
  CHECK(printable("\xff\xfe"
                  "a") == "\\xff\\xfea");
  CHECK(printable("\x80") == "\\x80");
  CHECK(printable("\xc3") == "\\xc3");  // cut short
  CHECK(printable("\xe2\x82"
                  "a") == "\\xe2\\x82a");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // a longer form of /
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a pair
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last
  CHECK(printable("\xf0\x9f\x94\x92") == "\xf0\x9f\x94\x92");
}

TEST_CASE("a line of the log is one line, whatever a client had it say") {
  const std::string line =
      log_line(1, WallTime(0s), LogLevel::notice, "said\n1:M all is well\x1b[0m");
  CHECK(line == "1:M 01 Jan 1970 00:00:00.000 * said\\x0a1:M all is well\\x1b[0m\n");
}

TEST_CASE("what is too long for a line is cut, and two points stand for the rest") {
  CHECK(cut_to_columns("printer", 7) == "printer");
  CHECK(cut_to_columns("printers", 7) == "print..");
  CHECK(cut_to_columns("", 3).empty());
  CHECK(cut_to_columns("\xc3\xa4\xc3\xa4\xc3\xa4", 6) == "\xc3\xa4\xc3\xa4\xc3\xa4");
  CHECK(cut_to_columns("\xc3\xa4\xc3\xa4\xc3\xa4", 5) == "\xc3\xa4..");  // no half character
}

TEST_CASE("a name that somebody chose is shown without what a terminal obeys, and not whole") {
  CHECK(shown_name("printer") == "printer");
  CHECK(shown_name("\x1b[2J") == "\\x1b[2J");
  CHECK(shown_name(std::string(1000, 'x')) == std::string(58, 'x') + "..");
}
