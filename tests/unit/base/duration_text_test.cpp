#include "base/duration_text.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("durations are read as people write them, plain numbers as milliseconds") {
  CHECK(parse_duration("1500").value() == 1500ms);
  CHECK(parse_duration("250ms").value() == 250ms);
  CHECK(parse_duration("30s").value() == 30s);
  CHECK(parse_duration("5m").value() == 5min);
  CHECK(parse_duration("1h").value() == 1h);
  CHECK(parse_duration("0").value() == 0ns);
}

TEST_CASE("what is no duration is refused with a sentence that says what is") {
  for (const char* text : {"", "s", "-1s", "1.5s", "1 s", "1w", "1S", "99999999999999999999s"}) {
    CAPTURE(text);
    const auto duration = parse_duration(text);
    CHECK_FALSE(duration);
    CHECK(duration.error().find("30s") != std::string::npos);
  }
  CHECK_FALSE(parse_duration("100000000h"));
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
