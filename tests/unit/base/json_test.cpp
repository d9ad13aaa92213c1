#include "base/text/json.h"

#include <limits>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace redlock;

namespace {

using Reader = nlohmann::ordered_json;

}  // namespace

TEST_CASE("each kind of value is written as JSON has it") {
  CHECK(Json().text() == "null");
  CHECK(Json(true).text() == "true");
  CHECK(Json(false).text() == "false");
  CHECK(Json(-3).text() == "-3");
  CHECK(Json('a' - 'a' + std::uint8_t{200}).text() == "200");
  CHECK(Json(std::numeric_limits<std::int64_t>::min()).text() == "-9223372036854775808");
  CHECK(Json(std::numeric_limits<std::uint64_t>::max()).text() == "18446744073709551615");
  CHECK(Json("held").text() == R"("held")");
  CHECK(Json(std::string("held")).text() == R"("held")");
  CHECK(JsonArray{}.text() == "[]");
  CHECK(JsonObject{}.text() == "{}");
}

TEST_CASE("a number is read back as the same, and what is none is null") {
  for (const double number : {0.0, 0.01, 1.5, -2.25, 1e300, 1.0 / 3, 12345678.9}) {
    CAPTURE(number);
    CHECK(Reader::parse(Json(number).text()).get<double>() == number);
  }
  CHECK(Json(std::numeric_limits<double>::infinity()).text() == "null");
  CHECK(Json(std::numeric_limits<double>::quiet_NaN()).text() == "null");
}

TEST_CASE("members and values stand in the order in which they were written") {
  JsonArray nodes{"b", 1, Json(), true};
  nodes.add(JsonObject{{"z", 1}, {"a", JsonArray{}}});
  JsonObject all = {{"nodes", nodes}, {"held", false}};
  all.add("epoch", 7U);
  CHECK(all.text() == R"({"nodes":["b",1,null,true,{"z":1,"a":[]}],"held":false,"epoch":7})");
}

TEST_CASE("lists, maps and what may be missing are values, too") {
  CHECK(Json(std::vector<std::string>{"a", "b"}).text() == R"(["a","b"])");
  CHECK(Json(std::vector<std::size_t>{}).text() == "[]");
  CHECK(Json(std::map<std::string, std::uint64_t>{{"held", 2}}).text() == R"({"held":2})");
  CHECK(Json(std::optional<int>()).text() == "null");
  CHECK(Json(std::optional<int>(4)).text() == "4");
}

TEST_CASE("any text is read back as it was") {
  std::string all_of_ascii;
  for (char c = 0; c < 127; ++c) all_of_ascii += c;
  for (const std::string& text : {all_of_ascii, std::string("\x7f"), std::string("Drücker № 7 🔒"),
                                  std::string("\"\\/\b\f\n\r\t"), std::string()}) {
    CAPTURE(text);
    CHECK(Reader::parse(Json(text).text()).get<std::string>() == text);
    CHECK(Reader::parse(JsonObject{{text, 1}}.text()).begin().key() == text);
  }
}

TEST_CASE("bytes that are no UTF-8 become the replacement character, as the reader wants UTF-8") {
  CHECK(Json("\xff").text() == "\"\xef\xbf\xbd\"");
  CHECK(Json("a\xc3").text() == "\"a\xef\xbf\xbd\"");
  CHECK(Json("\xed\xa0\x80").text() == "\"\xef\xbf\xbd\"");    // half of a pair
  CHECK(Json("\xc0\xaf\"").text() == "\"\xef\xbf\xbd\\\"\"");  // a longer form of /
}

TEST_CASE("no character of a string moves a terminal's cursor or turns its text") {
  const std::string text = "a\x01\x7f\u0085\u009b31m\u061c\u202e\u2066\n\té";
  const std::string json = Json(text).text();
  CHECK(json == R"("a\u0001\u007f\u0085\u009b31m\u061c\u202e\u2066\n\té")");
  CHECK(Reader::parse(json).get<std::string>() == text);
}
