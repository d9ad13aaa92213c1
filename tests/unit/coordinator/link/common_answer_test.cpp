#include "coordinator/link/common_answer.h"

#include "base/random.h"
#include "protocol/resp/reply_parser.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// What it reads the parser and classify() read as well, to the same end.
void check_agrees(RequestKind kind, const std::string& bytes) {
  CAPTURE(bytes);
  const auto common = read_common_answer(kind, bytes);
  if (!common) return;
  const protocol::ParsedReply parsed = protocol::parse_reply(bytes);
  REQUIRE(parsed.state == protocol::ParsedReply::State::complete);
  CHECK(parsed.consumed == common->bytes);
  const Answer answer = classify(kind, parsed.reply);
  CHECK(answer.kind == common->answer.kind);
  CHECK(answer.token == common->answer.token);
  CHECK(answer.topped_up == common->answer.topped_up);
  CHECK(answer.is_lacking == common->answer.is_lacking);
  CHECK(answer.text == common->answer.text);
}

}  // namespace

TEST_CASE("a grant and a release are read in one go, and no byte beyond them") {
  const auto grant =
      read_common_answer(RequestKind::acquire, "*3\r\n:1\r\n:17\r\n:30000\r\n:1\r\n");
  REQUIRE(grant);
  CHECK(grant->answer.kind == AnswerKind::yes);
  CHECK(grant->answer.token == 17);
  CHECK(grant->bytes == 21);
  const auto released = read_common_answer(RequestKind::release, ":1\r\n:0\r\n");
  REQUIRE(released);
  CHECK(released->answer.kind == AnswerKind::yes);
  CHECK(released->bytes == 4);
  const auto not_held = read_common_answer(RequestKind::release, ":0\r\n");
  REQUIRE(not_held);
  CHECK(not_held->answer.kind == AnswerKind::no);
}

TEST_CASE("what is not there in full, or is another answer, is left to the parser") {
  const std::string whole = "*3\r\n:1\r\n:17\r\n:30000\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(read_common_answer(RequestKind::acquire, whole.substr(0, size)));
  }
  for (const char* other :
       {"*2\r\n:0\r\n:12\r\n", "+OK\r\n", "-ERR no\r\n", "_\r\n", ":1\r\n",
        "*3\r\n:1\r\n:-1\r\n:5\r\n", "*3\r\n:1\r\n:007\r\n:5\r\n", "*3\r\n:1\r\n:+1\r\n:5\r\n",
        "*3\r\n:1\r\n:\r\n:5\r\n", "*3\r\n:1\r\n:9007199254740993\r\n:5\r\n",
        "*3\r\n:1\r\n:1\r\n:-1\r\n", "*3\r\n:1\r\n:18446744073709551617\r\n:5\r\n"}) {
    CAPTURE(other);
    CHECK_FALSE(read_common_answer(RequestKind::acquire, other));
  }
  for (const char* other : {":2\r\n", ":", ":1", ":1\r", ":10\r\n", "+OK\r\n", "*1\r\n:1\r\n"}) {
    CAPTURE(other);
    CHECK_FALSE(read_common_answer(RequestKind::release, other));
  }
  for (const RequestKind kind : {RequestKind::extend, RequestKind::confirm, RequestKind::status}) {
    CHECK_FALSE(read_common_answer(kind, ":1\r\n"));
    CHECK_FALSE(read_common_answer(kind, whole));
  }
}

TEST_CASE("whatever is read in one go the parser reads alike") {
  const auto seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  const std::vector<std::string> parts = {"*3\r\n",
                                          "*2\r\n",
                                          ":1\r\n",
                                          ":0\r\n",
                                          ":",
                                          "0",
                                          "9",
                                          "17",
                                          "\r\n",
                                          "\r",
                                          "-",
                                          "1",
                                          "$",
                                          "9007199254740992",
                                          "9007199254740991",
                                          "999999999999999999"};
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = random.below(2) == 0 ? "*3\r\n:1\r\n:" : "";
    for (std::uint64_t left = random.below(8); left > 0; --left) {
      bytes += parts[random.below(parts.size())];
    }
    check_agrees(RequestKind::acquire, bytes);
    check_agrees(RequestKind::release, bytes);
  }
}
