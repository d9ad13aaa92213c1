#include "protocol/catalogue/glob.h"

#include "base/random.h"

#include <string>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::protocol;

TEST_CASE("a plain pattern is the text itself") {
  CHECK(glob_matches("maxmemory", "maxmemory"));
  CHECK_FALSE(glob_matches("maxmemory", "maxmemory-policy"));
  CHECK_FALSE(glob_matches("maxmemory-policy", "maxmemory"));
  CHECK_FALSE(glob_matches("maxmemory", "MAXMEMORY"));
  CHECK(glob_matches("maxMEMory", "MAXmemory", LetterCase::ignored));
  CHECK(glob_matches("", ""));
  CHECK_FALSE(glob_matches("", "a"));
  CHECK_FALSE(glob_matches("a", ""));
}

TEST_CASE("a star takes any bytes, also none") {
  CHECK(glob_matches("*", "anything"));
  CHECK_FALSE(glob_matches("*", ""));  // as Redis: no star takes an empty text
  CHECK(glob_matches("lock:*", "lock:"));
  CHECK(glob_matches("lock:*", "lock:printer"));
  CHECK(glob_matches("*:printer", "lock:printer"));
  CHECK(glob_matches("l*:*r", "lock:printer"));
  CHECK(glob_matches("***a***", "bab"));
  CHECK(glob_matches("*ab", "aab"));
  CHECK(glob_matches("*a*b*c", "xaxbxaxbxc"));
  CHECK_FALSE(glob_matches("*a*b*c", "xaxbxaxbx"));
  CHECK_FALSE(glob_matches("lock:*", "loc"));
}

TEST_CASE("a question mark takes one byte") {
  CHECK(glob_matches("h?llo", "hello"));
  CHECK_FALSE(glob_matches("h?llo", "hllo"));
  CHECK_FALSE(glob_matches("h?llo", "heello"));
  CHECK_FALSE(glob_matches("?", ""));
  CHECK(glob_matches("?", std::string_view("\0", 1)));
}

TEST_CASE("a class takes one byte of those it names") {
  CHECK(glob_matches("h[ae]llo", "hello"));
  CHECK_FALSE(glob_matches("h[ae]llo", "hillo"));
  CHECK(glob_matches("h[a-e]llo", "hcllo"));
  CHECK(glob_matches("h[e-a]llo", "hcllo"));
  CHECK_FALSE(glob_matches("h[a-e]llo", "hfllo"));
  CHECK(glob_matches("[0-9a-f]", "c"));
  CHECK(glob_matches("h[^e]llo", "hallo"));
  CHECK_FALSE(glob_matches("h[^e]llo", "hello"));
  CHECK(glob_matches("[A-E]", "c", LetterCase::ignored));
  CHECK_FALSE(glob_matches("[A-E]", "c"));
  CHECK(glob_matches("[\x80-\xff]", "\xc3"));
}

TEST_CASE("odd classes mean what they mean to Redis") {
  CHECK(glob_matches("[abc", "b"));  // never closed: ends with the pattern
  CHECK_FALSE(glob_matches("[", "["));
  CHECK_FALSE(glob_matches("[]", "]"));  // nothing
  CHECK(glob_matches("[^]", "x"));       // anything
  CHECK(glob_matches("[a-]", "_"));      // a range from a to ']', and then never closed
  CHECK_FALSE(glob_matches("[a-]", "-"));
  CHECK(glob_matches("[\\]]", "]"));
  CHECK(glob_matches("[\\-x]", "-"));
  CHECK(glob_matches(std::string_view("[a\\b", 3), "\\"));  // a backslash at the end, and no b
  CHECK_FALSE(glob_matches(std::string_view("[a\\b", 3), "b"));
}

TEST_CASE("a backslash takes the meaning from what follows") {
  CHECK(glob_matches("\\*", "*"));
  CHECK_FALSE(glob_matches("\\*", "a"));
  CHECK(glob_matches("\\[a]", "[a]"));
  CHECK(glob_matches("\\\\", "\\"));
  CHECK(glob_matches("a\\", "a\\"));
}

TEST_CASE("a pattern with many stars costs no more than its length times the text's") {
  std::string pattern;
  for (int i = 0; i < 10'000; ++i) pattern += "a*";
  pattern += "b";
  CHECK_FALSE(glob_matches(pattern, std::string(20'000, 'a')));
  CHECK(glob_matches(pattern, std::string(20'000, 'a') + "b"));
}

TEST_CASE("what takes more than kGlobStepsMax does not match") {
  constexpr std::size_t kKeyBytes = 65'535;
  const auto ends_in_b = [](std::size_t size) { return std::string(size - 1, 'a') + "b"; };
  CHECK(glob_matches("*" + ends_in_b(3), ends_in_b(kKeyBytes)));
  CHECK_FALSE(glob_matches("*" + ends_in_b(1000), ends_in_b(kKeyBytes)));
  CHECK(glob_matches("*" + ends_in_b(256), ends_in_b(1000)));
  SECTION("some megabytes of both, which would take days") {
    CHECK_FALSE(glob_matches("*" + ends_in_b(8'000'000), ends_in_b(16'000'000)));
  }
  SECTION("the same in a class") {
    CHECK_FALSE(glob_matches("*[" + std::string(8'000'000, 'x') + "]c", ends_in_b(16'000'000)));
  }
  SECTION("a class that is so long has nothing") {
    const auto ends_in_a = [](std::size_t size) { return "[" + std::string(size, 'x') + "a]"; };
    CHECK(glob_matches(ends_in_a(kGlobStepsMax - 10), "a"));
    CHECK_FALSE(glob_matches(ends_in_a(kGlobStepsMax + 10), "a"));
  }
  SECTION("what is read once is no such thing") {
    CHECK(glob_matches(ends_in_b(16'000'000), ends_in_b(16'000'000)));
    CHECK(glob_matches("*b", ends_in_b(200'000)));
  }
}

namespace {

// What a glob means, by trying everything; stars and literals alone.
bool matches_by_trying(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return matches_by_trying(pattern.substr(1), text) ||
           (!text.empty() && matches_by_trying(pattern, text.substr(1)));
  }
  if (text.empty()) return false;
  return (pattern.front() == '?' || pattern.front() == text.front()) &&
         matches_by_trying(pattern.substr(1), text.substr(1));
}

std::string random_text(Random& random, std::string_view letters, std::uint64_t size_max) {
  std::string text;
  for (auto size = random.below(size_max + 1); size > 0; --size) {
    text += letters[random.below(letters.size())];
  }
  return text;
}

}  // namespace

TEST_CASE("trying only the last star again finds what trying everything finds") {
  Random random(1);
  for (int i = 0; i < 50'000; ++i) {
    const std::string pattern = random_text(random, "ab*?", 7);
    const std::string text = random_text(random, "ab", 9);
    CAPTURE(pattern, text);
    const bool is_odd = text.empty() && !pattern.empty();  // no star takes an empty text
    REQUIRE(glob_matches(pattern, text) == (!is_odd && matches_by_trying(pattern, text)));
  }
}
