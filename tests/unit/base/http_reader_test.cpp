// Requests out of bytes, whole and in pieces, and what is no request.
#include "base/net/http/http_reader.h"

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock::net;
using State = HttpReader::State;

namespace {

constexpr std::string_view kGet =
    "GET /metrics?format=text HTTP/1.1\r\nHost: node:9379\r\nAccept: */*\r\n\r\n";

void check_is_the_get(const HttpRequest& request) {
  CHECK(request.method == "GET");
  CHECK(request.path == "/metrics");
  CHECK(request.host == "node:9379");
  CHECK(request.keeps_alive);
}

State state_of(std::string_view bytes) {
  HttpReader reader;
  return reader.read(bytes);
}

}  // namespace

TEST_CASE("a request is read, however its bytes come") {
  HttpReader reader;
  SECTION("at once") {
    std::string_view bytes = kGet;
    CHECK(reader.read(bytes) == State::whole);
    CHECK(bytes.empty());
  }
  SECTION("byte by byte") {
    for (std::size_t i = 0; i < kGet.size(); ++i) {
      std::string_view bytes = kGet.substr(i, 1);
      REQUIRE(reader.read(bytes) == (i + 1 < kGet.size() ? State::more : State::whole));
      REQUIRE(bytes.empty());
    }
  }
  check_is_the_get(reader.request());
}

TEST_CASE("who asks is read, and is one") {
  HttpReader reader;
  std::string_view bytes =
      "GET / HTTP/1.1\r\nAUTHORIZATION: Basic x=\r\n\r\nGET / HTTP/1.1\r\n\r\n";
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.request().authorization == "Basic x=");
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.request().authorization.empty());
  CHECK(state_of("GET / HTTP/1.1\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n") ==
        State::broken);
}

TEST_CASE("no bytes are no end") {
  HttpReader reader;
  std::string_view bytes = "GET / HT";
  CHECK(reader.read(bytes) == State::more);
  CHECK(reader.read(bytes) == State::more);
  bytes = "TP/1.1\r\n\r\n";
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.read(bytes) == State::more);
}

TEST_CASE("of several at once each is read by itself") {
  HttpReader reader;
  const std::string all = fmt::format("{}HEAD / HTTP/1.0\r\n\r\n{}", kGet, kGet);
  std::string_view bytes = all;
  CHECK(reader.read(bytes) == State::whole);
  check_is_the_get(reader.request());
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.request().method == "HEAD");
  CHECK(reader.request().path == "/");
  CHECK(reader.request().host.empty());
  CHECK_FALSE(reader.request().keeps_alive);
  CHECK(reader.read(bytes) == State::whole);
  check_is_the_get(reader.request());
  CHECK(reader.read(bytes) == State::more);
}

TEST_CASE("a connection may be kept, or not") {
  HttpReader reader;
  std::string_view bytes = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
  CHECK(reader.read(bytes) == State::whole);
  CHECK_FALSE(reader.request().keeps_alive);
}

TEST_CASE("two hosts are no request, and a field with an empty value moves no other") {
  for (const char* text : {"GET / HTTP/1.1\r\nHost: one\r\nHost: two\r\n\r\n",
                           "GET / HTTP/1.1\r\nHost: one\r\nhost: one\r\nX: y\r\n\r\n"}) {
    HttpReader reader;
    std::string_view bytes = text;
    CHECK(reader.read(bytes) == State::broken);
  }
  HttpReader reader;
  std::string_view bytes = "GET / HTTP/1.1\r\nX-Empty:\r\nHost: one\r\n\r\n";
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.request().host == "one");
}

TEST_CASE("a body belongs to its request") {
  HttpReader reader;
  std::string_view bytes =
      "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET ";
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.request().method == "POST");
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.request().method == "PUT");
  CHECK(bytes == "GET ");
}

TEST_CASE("what is no request is broken, and stays so") {
  CHECK(state_of("PING\r\n") == State::broken);
  CHECK(state_of("*1\r\n$4\r\nPING\r\n") == State::broken);
  CHECK(state_of("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n") ==
        State::broken);
  CHECK(state_of("GET / HTTP/1.1\r\nHo\x01st: a\r\n\r\n") == State::broken);
  HttpReader reader;
  std::string_view bytes = "\x16\x03\x01 a TLS greeting";
  CHECK(reader.read(bytes) == State::broken);
  bytes = kGet;
  CHECK(reader.read(bytes) == State::broken);
}

TEST_CASE("a request has room for so many bytes, and the next one for as many again") {
  constexpr std::size_t kMost = HttpReader::kRequestBytesMax;
  const auto request_of = [](std::size_t bytes) {
    const std::string_view begin = "GET / HTTP/1.1\r\nX: ";
    return fmt::format("{}{}\r\n\r\n", begin, std::string(bytes - begin.size() - 4, 'x'));
  };
  CHECK(state_of(request_of(kMost + 1)) == State::too_long);
  CHECK(state_of(std::string(kMost - 1, 'G')) == State::broken);
  CHECK(state_of("GET /" + std::string(kMost, 'x')) == State::too_long);
  HttpReader reader;
  const std::string both = request_of(kMost) + request_of(kMost);
  std::string_view bytes = both;
  CHECK(reader.read(bytes) == State::whole);
  CHECK(reader.read(bytes) == State::whole);
  CHECK(bytes.empty());
}
