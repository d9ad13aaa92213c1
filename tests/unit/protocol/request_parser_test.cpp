#include "protocol/resp/request_parser.h"

#include "base/random.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request_writer.h"
#include "tests/support/repeated.h"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::protocol;

namespace {

std::string told(Request request) {
  std::string out;
  for (const std::string_view word : request) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

// All requests in the bytes, one a line, told as words; then "…" if something incomplete is left,
// or "-" and the problem. `pieces` of at most this size arrive one after the other, and the bytes
// lie elsewhere at every call.
std::string requests_of(std::string_view bytes, std::size_t piece = std::string_view::npos,
                        bool authenticated = true) {
  RequestParser parser;
  parser.set_authenticated(authenticated);
  std::string out;
  std::string received;
  while (true) {
    const std::string moved = received;
    switch (parser.parse(moved)) {
      case RequestParser::State::complete:
        REQUIRE(parser.consumed() > 0);
        REQUIRE(parser.consumed() <= moved.size());
        if (!parser.request().empty()) out += told(parser.request()) + "\n";
        received.erase(0, parser.consumed());
        break;
      case RequestParser::State::broken:
        return out + "-" + parser.problem();
      case RequestParser::State::incomplete:
        if (bytes.empty()) return received.empty() ? out : out + "…";
        received += bytes.substr(0, piece);
        bytes.remove_prefix(std::min(piece, bytes.size()));
    }
  }
}

std::string unauthenticated(std::string_view bytes) {
  return requests_of(bytes, std::string_view::npos, false);
}

constexpr std::string_view kTranscript =
    "*5\r\n$3\r\nSET\r\n$4\r\nlock\r\n$5\r\nv\r\n\r\n\r\n$2\r\nPX\r\n$5\r\n30000\r\n"
    "PING\r\n"
    "*0\r\n"
    "*-1\r\n"
    "\r\n"
    "set k \"a b\" 'c d'\n"
    "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n"
    "  *2  \r\n"
    "*1\r\n$4\r\nQUIT\r\n";

constexpr std::string_view kTold =
    "SET lock v\r\n\r\n PX 30000\n"
    "PING\n"
    "set k a b c d\n"
    "ECHO \n"
    "*2\n"
    "QUIT\n";

}  // namespace

TEST_CASE("requests that arrive whole are handed out one by one") {
  CHECK(requests_of(kTranscript) == kTold);
}

TEST_CASE("requests are the same however they arrive") {
  for (std::size_t piece = 1; piece < kTranscript.size(); ++piece) {
    CAPTURE(piece);
    REQUIRE(requests_of(kTranscript, piece) == kTold);
  }
}

TEST_CASE("requests are the same split at every point") {
  for (std::size_t split = 0; split <= kTranscript.size(); ++split) {
    RequestParser parser;
    std::string out;
    std::string received(kTranscript.substr(0, split));
    for (const bool all_came : {false, true}) {
      if (all_came) received += kTranscript.substr(split);
      while (parser.parse(received) == RequestParser::State::complete) {
        if (!parser.request().empty()) out += told(parser.request()) + "\n";
        received.erase(0, parser.consumed());
      }
    }
    CAPTURE(split);
    REQUIRE(out == kTold);
  }
}

TEST_CASE("a request is views into the bytes it came in") {
  const std::string bytes = "*2\r\n$3\r\nGET\r\n$4\r\nlock\r\n";
  RequestParser parser;
  REQUIRE(parser.parse(bytes) == RequestParser::State::complete);
  REQUIRE(parser.request().size() == 2);
  CHECK(parser.request()[1].data() == bytes.data() + 17);
}

TEST_CASE("an empty buffer is an incomplete request") {
  RequestParser parser;
  CHECK(parser.parse("") == RequestParser::State::incomplete);
  CHECK(parser.parse("PING\r\n") == RequestParser::State::complete);
}

TEST_CASE("a broken header is told in Redis's words") {
  CHECK(requests_of("*a\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(requests_of("*\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(requests_of("*01\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(requests_of("* 1\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(requests_of("*2147483648\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(requests_of("*99999999999999999999\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(requests_of("*1\r\n$a\r\n") == "-Protocol error: invalid bulk length");
  CHECK(requests_of("*1\r\n$-1\r\n") == "-Protocol error: invalid bulk length");
  CHECK(requests_of("*1\r\n$04\r\nPING\r\n") == "-Protocol error: invalid bulk length");
  CHECK(requests_of("*1\r\n+PING\r\n") == "-Protocol error: expected '$', got '+'");
  CHECK(requests_of("PING\r\n*2\r\n:1\r\n") == "PING\n-Protocol error: expected '$', got ':'");
}

TEST_CASE("negative counts are no request, and what follows is read") {
  CHECK(requests_of("*-1\r\nPING\r\n") == "PING\n");
  CHECK(requests_of("*-9223372036854775808\r\nPING\r\n") == "PING\n");
  CHECK(requests_of("*-9223372036854775809\r\n") == "-Protocol error: invalid multibulk length");
}

TEST_CASE("the two bytes behind a word are passed over unread, as by Redis") {
  CHECK(requests_of("*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n") == "PING\nPING\n");
}

TEST_CASE("a 600 MB header is refused at once, nothing is kept for it") {
  CHECK(requests_of("*1\r\n$629145600\r\n") == "-Protocol error: invalid bulk length");
  CHECK(requests_of("*1\r\n$16777217\r\n") == "-Protocol error: invalid bulk length");
  CHECK(requests_of("*1\r\n$16777216\r\nx") == "…");
  CHECK(requests_of("*1048577\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(requests_of("*16384\r\n") == "…");
  CHECK(
      requests_of("*16385\r\n") ==
      "-Protocol error: a request of 16385 words, of which 16384 are taken at once: send several");
}

TEST_CASE("10,000 nested arrays are an error at the second") {
  CHECK(requests_of(repeated("*1\r\n", 10'000)) == "-Protocol error: expected '$', got '*'");
}

TEST_CASE("a line without an end is refused at 64 KB, whole or in pieces") {
  const std::string line(2 * 1024 * 1024, 'a');
  const char* problem = "-Protocol error: too big inline request";
  CHECK(requests_of(line) == problem);
  CHECK(requests_of(line + "\r\n") == problem);
  CHECK(requests_of(line, 16 * 1024) == problem);
  CHECK(requests_of("*" + line) == "-Protocol error: too big mbulk count string");
  CHECK(requests_of("*" + line + "\r\n", 16 * 1024) ==
        "-Protocol error: too big mbulk count string");
  CHECK(requests_of("*1\r\n$" + line) == "-Protocol error: too big bulk count string");
  CHECK(requests_of(line.substr(0, 64 * 1024)) == "…");
  const std::string longest = line.substr(0, 64 * 1024 - 1);
  CHECK(requests_of(longest + "\r\n") == longest + "\n");
}

TEST_CASE("a request that grows beyond 64 MB is refused") {
  const std::string word = "$16777216\r\n" + std::string(16 * 1024 * 1024, 'x') + "\r\n";
  CHECK(requests_of("*5\r\n" + word + word + word + word) ==
        "-Protocol error: request larger than this server takes");
}

TEST_CASE("inline lines are split as redis-cli and telnet users write them") {
  CHECK(requests_of("PING\n") == "PING\n");
  CHECK(requests_of("  SET  k \"a\\x41\\n\" 'it\\'s'  \r\n") == "SET k aA\n it's\n");
  CHECK(requests_of("\r\n\n   \r\n").empty());
  CHECK(requests_of("GET \"a\r\n") == "-Protocol error: unbalanced quotes in request");
  CHECK(requests_of("GET 'a'b\r\n") == "-Protocol error: unbalanced quotes in request");
}

TEST_CASE("a client that has not given the password may send little") {
  CHECK(unauthenticated("*3\r\n$4\r\nAUTH\r\n$1\r\na\r\n$1\r\nb\r\n") == "AUTH a b\n");
  CHECK(unauthenticated("*10\r\n") == "…");
  CHECK(unauthenticated("*11\r\n") == "-Protocol error: unauthenticated multibulk length");
  CHECK(unauthenticated("*1\r\n$16384\r\n") == "…");
  CHECK(unauthenticated("*1\r\n$16385\r\n") == "-Protocol error: unauthenticated bulk length");
  CHECK(unauthenticated("*1048577\r\n") == "-Protocol error: invalid multibulk length");
  CHECK(unauthenticated("*1\r\n$629145600\r\n") == "-Protocol error: invalid bulk length");
}

TEST_CASE("the password lifts the bounds for what follows") {
  RequestParser parser;
  parser.set_authenticated(false);
  const std::string bytes = "*1\r\n$1\r\na\r\n*11\r\n";
  REQUIRE(parser.parse(bytes) == RequestParser::State::complete);
  parser.set_authenticated(true);
  CHECK(parser.parse(std::string_view(bytes).substr(parser.consumed())) ==
        RequestParser::State::incomplete);
}

TEST_CASE("binary garbage is requests or an error, never more") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string garbage(random.below(300), '\0');
    for (char& byte : garbage) byte = static_cast<char>(random() & 0xff);
    requests_of(garbage, 1 + random.below(50));
  }
}

TEST_CASE("what the request writer writes is read back the same") {
  OutputBuffer out;
  const std::string binary("\0\r\n*1\r\n\xff", 8);
  const std::string_view words[] = {"SET", binary, "", "NX"};
  write_request(words, out);
  RequestParser parser;
  REQUIRE(parser.parse(out.view()) == RequestParser::State::complete);
  CHECK(parser.consumed() == out.size());
  const std::vector<std::string_view> read(parser.request().begin(), parser.request().end());
  CHECK(read == std::vector<std::string_view>(std::begin(words), std::end(words)));
}
