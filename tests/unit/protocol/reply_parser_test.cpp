#include "protocol/resp/reply_parser.h"

#include "protocol/resp/limits.h"
#include "tests/support/repeated.h"
#include "tests/unit/protocol/reply_samples.h"

#include <cmath>

#include <catch2/catch.hpp>

using namespace redlock::protocol;

namespace {

// The reply in one line, "(incomplete)", or "broken: " and why.
std::string parsed(std::string_view bytes) {
  const ParsedReply result = parse_reply(bytes);
  switch (result.state) {
    case ParsedReply::State::incomplete:
      return "(incomplete)";
    case ParsedReply::State::broken:
      return "broken: " + result.problem;
    case ParsedReply::State::complete:
      break;
  }
  CHECK(result.consumed <= bytes.size());
  return result.reply.to_string();
}

}  // namespace

TEST_CASE("every reply that is written in RESP3 is read back the same") {
  for (const Reply& sample : resp3_samples()) {
    const std::string bytes = written(sample, Version::resp3);
    CAPTURE(bytes);
    const ParsedReply result = parse_reply(bytes);
    REQUIRE(result.state == ParsedReply::State::complete);
    CHECK(result.consumed == bytes.size());
    CHECK(result.reply == sample);
  }
}

TEST_CASE("what RESP2 steps down to is read as just that") {
  CHECK(parsed(written(Reply::boolean(true), Version::resp2)) == "(integer) 1");
  CHECK(parsed(written(Reply::verbatim("abc"), Version::resp2)) == "\"abc\"");
  CHECK(parse_reply("*-1\r\n").reply == Reply::null_array());
  CHECK(parse_reply("$-1\r\n").reply == Reply::null());
  CHECK(parsed(written(nested_reply(), Version::resp2)) ==
        R"([["key", (integer) 1, [], (nil)], [+one, (integer) 0], -ERR inside])");
}

TEST_CASE(
    "a reply is incomplete at every point before its last byte, and no byte beyond is eaten") {
  for (const Reply& sample : resp3_samples()) {
    for (const Version version : {Version::resp2, Version::resp3}) {
      const std::string bytes = written(sample, version);
      CAPTURE(bytes);
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        REQUIRE(parse_reply(std::string_view(bytes).substr(0, size)).state ==
                ParsedReply::State::incomplete);
      }
      const ParsedReply followed = parse_reply(bytes + "+NEXT\r\n");
      REQUIRE(followed.state == ParsedReply::State::complete);
      CHECK(followed.consumed == bytes.size());
    }
  }
}

TEST_CASE("a text of a reply does not look at the bytes it came in") {
  std::string bytes = "*2\r\n$5\r\nvalue\r\n+a status\r\n";
  const ParsedReply result = parse_reply(bytes);
  bytes.assign(bytes.size(), '#');
  CHECK(result.reply.to_string() == R"(["value", +a status])");
}

TEST_CASE("RESP3's rarer forms are understood") {
  CHECK(parsed("!10\r\nERR a\r\nb\r\n\r\n") == "-ERR a\r\nb\r\n");
  CHECK(parsed("|1\r\n+ttl\r\n:3600\r\n:7\r\n") == "(integer) 7");
  CHECK(parsed("*2\r\n|1\r\n+ttl\r\n:1\r\n:7\r\n:8\r\n") == "[(integer) 7, (integer) 8]");
  CHECK(parsed("=7\r\nmkd:abc\r\n") == "\"abc\"");
  CHECK(std::isnan(parse_reply(",nan\r\n").reply.real()));
  CHECK(parsed(",10\r\n") == "(double) 10");
}

TEST_CASE("garbage is told from a reply that is on its way") {
  CHECK(parsed("HTTP/1.1 400 Bad Request\r\n") == "broken: a reply that starts with byte 0x48");
  CHECK(parsed(":seven\r\n") == "broken: 'seven' is not a number");
  CHECK(parsed(":\r\n") == "broken: '' is not a number");
  CHECK(parsed(",1.5x\r\n") == "broken: '1.5x' is not a number");
  CHECK(parsed("(12a\r\n") == "broken: '12a' is not a number");
  CHECK(parsed("(-\r\n") == "broken: '-' is not a number");
  CHECK(parsed("#x\r\n") == "broken: a boolean that is neither t nor f");
  CHECK(parsed("_x\r\n") == "broken: a null with something in it");
  CHECK(parsed("$3\r\nabcd\r\n") == "broken: a text without its end");
  CHECK(parsed("$-2\r\n") == "broken: a text of -2 bytes");
  CHECK(parsed("!-1\r\n") == "broken: a text of -1 bytes");
  CHECK(parsed("=-1\r\n") == "broken: a text of -1 bytes");
  CHECK(parsed("=3\r\nabc\r\n") == "broken: a verbatim text without its format");
  CHECK(parsed("=7\r\ntxt.abc\r\n") == "broken: a verbatim text without its format");
  CHECK(parsed("*-2\r\n") == "broken: a reply of -2 elements");
  CHECK(parsed("%-1\r\n") == "broken: a reply of -1 elements");
  CHECK(parsed("%-9223372036854775808\r\n") == "broken: a reply of -9223372036854775808 elements");
  CHECK(parsed("$?\r\n;4\r\n") == "broken: '?' is not a number");
}

TEST_CASE("a header that promises too much is refused before anything is kept for it") {
  CHECK(parsed("$629145600\r\n") == "broken: a text of 629145600 bytes");
  CHECK(parsed("*1048577\r\n") == "broken: a reply of 1048577 elements");
  CHECK(parsed("%1048576\r\n") == "broken: a reply of 2097152 elements");
  CHECK(parsed("*9223372036854775807\r\n").starts_with("broken: "));
  CHECK(parsed("*2\r\n*1048575\r\n").starts_with("broken: "));  // together more than are taken
  CHECK(parsed("*1048576\r\n") == "(incomplete)");
}

TEST_CASE("nesting is followed to its bound and no deeper") {
  CHECK(parsed(repeated("*1\r\n", kReplyDepthMax) + ":1\r\n").ends_with("]"));
  for (const char* level : {"*1\r\n", "%1\r\n", "~1\r\n", ">1\r\n", "|0\r\n", "|1\r\n"}) {
    CAPTURE(level);
    CHECK(parsed(repeated(level, 10'000)) == "broken: a reply nested deeper than is taken");
  }
}

TEST_CASE("a reply that never ends is refused at the bound on its bytes") {
  std::string endless = "+";
  endless.resize(kReplyBytesMax, 'x');
  CHECK(parsed(endless) == "(incomplete)");
  endless += 'x';
  CHECK(parsed(endless) == "broken: a reply larger than is taken");
}

TEST_CASE("what was understood is not looked at again when more comes") {
  ReplyParser parser;
  std::string bytes = "*3\r\n$5\r\nalice\r\n|1\r\n+ttl\r\n:1\r\n*1\r\n:7\r\n";
  REQUIRE(parser.parse(bytes) == ParsedReply::State::incomplete);
  bytes.assign(bytes.size(), '#');
  bytes += "+last\r\n+NEXT\r\n";
  REQUIRE(parser.parse(bytes) == ParsedReply::State::complete);
  CHECK(parser.take_reply().to_string() == R"(["alice", [(integer) 7], +last])");
  bytes.erase(0, parser.consumed());
  REQUIRE(parser.parse(bytes) == ParsedReply::State::complete);
  CHECK(parser.take_reply() == Reply::status("NEXT"));
}

TEST_CASE("a line's beginning is not searched again for its end") {
  ReplyParser parser;
  std::string bytes = "+a long li";
  REQUIRE(parser.parse(bytes) == ParsedReply::State::incomplete);
  bytes.replace(2, 2, "\r\n");
  bytes += "ne\r";
  REQUIRE(parser.parse(bytes) == ParsedReply::State::incomplete);
  bytes += '\n';
  REQUIRE(parser.parse(bytes) == ParsedReply::State::complete);
  CHECK(parser.take_reply().text() == "a\r\nong line");
}

// Read from its start at each byte, this would be 10^11 elements.
TEST_CASE("a reply that comes byte by byte costs time by its bytes") {
  std::string bytes = "*500000\r\n" + repeated(":1\r\n", 500'000);
  ReplyParser parser;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (parser.parse(std::string_view(bytes).substr(0, size)) != ParsedReply::State::incomplete)
      FAIL(size);
  }
  REQUIRE(parser.parse(bytes) == ParsedReply::State::complete);
  CHECK(parser.take_reply().items().size() == 500'000);
}

TEST_CASE("after what is broken a parser begins anew") {
  ReplyParser parser;
  CHECK(parser.parse("*2\r\n:1\r\n") == ParsedReply::State::incomplete);
  CHECK(parser.parse("*2\r\n:1\r\nx\r\n") == ParsedReply::State::broken);
  REQUIRE(parser.parse("+OK\r\n") == ParsedReply::State::complete);
  CHECK(parser.take_reply() == Reply::ok());
}
