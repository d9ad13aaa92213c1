#include "base/text/duration_text.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("durations are read as people write them, plain numbers as milliseconds") {
  CHECK(parse_duration("1500").value() == 1500ms);
  CHECK(parse_duration("250ms").value() == 250ms);
  CHECK(parse_duration("30s").value() == 30s);
  CHECK(parse_duration("5m").value() == 5min);
  CHECK(parse_duration("1h").value() == 1h);
  CHECK(parse_duration("2d").value() == 48h);
  CHECK(parse_duration("0").value() == 0ns);
}

TEST_CASE("a part of a unit is read exactly, down to the nanosecond") {
  CHECK(parse_duration("1.5s").value() == 1500ms);
  CHECK(parse_duration("0.1s").value() == 100ms);
  CHECK(parse_duration("1.50s").value() == 1500ms);
  CHECK(parse_duration("2.25m").value() == 135s);
  CHECK(parse_duration("0.5d").value() == 12h);
  CHECK(parse_duration("0.000000001s").value() == 1ns);
  CHECK(parse_duration("0.000001ms").value() == 1ns);
  CHECK(parse_duration("36500.0d").value() == kDurationTextMax);
  for (const char* text : {"0.0000000001s", "1.0000000000s", "0.0000001ms", "0.00000000001m"}) {
    CAPTURE(text);
    CHECK(parse_duration(text).error().text.find("finer than a nanosecond") != std::string::npos);
  }
  for (const char* text : {"36501d", "36500.1d", "100000000h", "9223372036854775807d"}) {
    CAPTURE(text);
    CHECK(parse_duration(text).error().text.find("too long: at most 36500d") != std::string::npos);
  }
}

TEST_CASE("what is no duration is refused with a sentence that says what is") {
  for (const char* text : {"", "s", "-1s", "1.s", ".5s", ".", "1..5s", "1.5.5s", "1,5s", "01s",
                           "1 s", "1w", "1S", "1e3s", "99999999999999999999s"}) {
    CAPTURE(text);
    for (const auto& duration : {parse_duration(text), parse_duration_with_unit(text)}) {
      CHECK_FALSE(duration);
      CHECK(duration.error().text.find("30s") != std::string::npos);
    }
  }
}

TEST_CASE("a part of a plain number is no duration") {
  CHECK_FALSE(parse_duration("1.5"));
}

TEST_CASE("where a unit is needed, a number without one is refused with what to write") {
  CHECK(parse_duration_with_unit("10").error().text ==
        "10: a duration needs a unit: 10s, 10ms, 10m");
  CHECK(parse_duration_with_unit("1.5").error().text ==
        "1.5: a duration needs a unit: 1.5s, 1.5ms, 1.5m");
  CHECK_FALSE(parse_duration_with_unit("0.0"));
  CHECK_FALSE(parse_duration_with_unit("00"));
  CHECK(parse_duration_with_unit("0").value() == 0ns);
  CHECK(parse_duration_with_unit("0s").value() == 0ns);
  CHECK(parse_duration_with_unit("10ms").value() == 10ms);
  CHECK(parse_duration_with_unit("1.5s").value() == 1500ms);
}

TEST_CASE("durations are written in the shortest exact form") {
  CHECK(duration_text(30s) == "30s");
  CHECK(duration_text(90s) == "90s");
  CHECK(duration_text(60s) == "1m");
  CHECK(duration_text(1500ms) == "1500ms");
  CHECK(duration_text(0ns) == "0ms");
  CHECK(spoken_duration(250ms) == "250 ms");
  CHECK(spoken_duration(12345ms) == "12.3 s");
}

TEST_CASE("a rough duration has its two largest units, and is never more than it is") {
  CHECK(rough_duration(-1s) == "0 s");
  CHECK(rough_duration(999ms) == "0 s");
  CHECK(rough_duration(59999ms) == "59 s");
  CHECK(rough_duration(125s) == "2 min 5 s");
  CHECK(rough_duration(1h + 59s) == "1 h 0 min");
  CHECK(rough_duration(std::chrono::hours(50)) == "2 d 2 h");
}
