#include "base/text/quoted_words.h"

#include <catch2/catch.hpp>

using namespace redlock;

namespace {

using Words = std::vector<std::string>;

Words split(std::string_view line) {
  const auto words = split_quoted_words(line);
  REQUIRE(words);
  return *words;
}

}  // namespace

TEST_CASE("words are parted by blanks, however many") {
  CHECK(split("set k v") == Words{"set", "k", "v"});
  CHECK(split("  set\t k  \r\n") == Words{"set", "k"});
  CHECK(split("").empty());
  CHECK(split(" \t ").empty());
}

TEST_CASE("double quotes keep blanks together and know escapes") {
  CHECK(split(R"(set k "a b")") == Words{"set", "k", "a b"});
  CHECK(split(R"("\n\r\t\b\a")") == Words{"\n\r\t\b\a"});
  CHECK(split(R"("\\ \" \q")") == Words{R"(\ " q)"});
  CHECK(split(R"("")") == Words{""});
}

TEST_CASE("\\x takes two hex digits, else it is an x") {
  CHECK(split(R"("\x41\xfF\x00")") == Words{std::string("A\xff\0", 3)});
  CHECK(split(R"("\x4")") == Words{"x4"});
  CHECK(split(R"("\xg0")") == Words{"xg0"});
  CHECK(split(R"("\x-1")") == Words{"x-1"});
  CHECK(split(R"("\x")") == Words{"x"});
}

TEST_CASE("single quotes know no escape but their own") {
  CHECK(split(R"('a b')") == Words{"a b"});
  CHECK(split(R"('it\'s')") == Words{"it's"});
  CHECK(split(R"('\n\x41')") == Words{R"(\n\x41)"});
}

TEST_CASE("a quote may begin within a word, but must end it") {
  CHECK(split(R"(a"b c")") == Words{"ab c"});
  CHECK_FALSE(split_quoted_words(R"("a"b)"));
  CHECK_FALSE(split_quoted_words(R"('a'b)"));
  CHECK_FALSE(split_quoted_words(R"("a""b")"));
}

TEST_CASE("a quote that is left open is refused") {
  for (const char* line :
       {R"(")", R"(')", R"(set "a)", R"(set 'a)", R"("a\")", R"('a\')", R"("\)"}) {
    CAPTURE(line);
    CHECK_FALSE(split_quoted_words(line));
  }
}

TEST_CASE("a word in quotes reads back as the same bytes") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const auto words = split_quoted_words(quoted_word(all));
  REQUIRE(words);
  CHECK(*words == std::vector<std::string>{all});
  CHECK(quoted_word("a \"b\"\n\a\x01\xff") == R"("a \"b\"\n\a\x01\xff")");
}
