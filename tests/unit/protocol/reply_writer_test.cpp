#include "protocol/resp/reply_writer.h"

#include "protocol/resp/request_writer.h"
#include "tests/unit/protocol/reply_samples.h"

#include <cmath>

#include <catch2/catch.hpp>

using namespace redlock::protocol;

namespace {

std::string resp2(const Reply& reply) {
  return written(reply, Version::resp2);
}
std::string resp3(const Reply& reply) {
  return written(reply, Version::resp3);
}

}  // namespace

TEST_CASE("what both versions have is written the same") {
  for (auto* write : {&resp2, &resp3}) {
    CHECK((*write)(Reply::ok()) == "+OK\r\n");
    CHECK((*write)(Reply::error_view("ERR no")) == "-ERR no\r\n");
    CHECK((*write)(Reply::integer(-12)) == ":-12\r\n");
    CHECK((*write)(Reply::bulk("a\r\nb")) == "$4\r\na\r\nb\r\n");
    CHECK((*write)(Reply::bulk("")) == "$0\r\n\r\n");
    CHECK((*write)(Reply::array()) == "*0\r\n");
    CHECK((*write)(Reply::none()).empty());
    CHECK((*write)(Reply::later()).empty());
  }
}

TEST_CASE("RESP3 writes its own types") {
  CHECK(resp3(Reply::null()) == "_\r\n");
  CHECK(resp3(Reply::null_array()) == "_\r\n");
  CHECK(resp3(Reply::boolean(true)) == "#t\r\n");
  CHECK(resp3(Reply::boolean(false)) == "#f\r\n");
  CHECK(resp3(Reply::real(1.5)) == ",1.5\r\n");
  CHECK(resp3(Reply::real(std::nan(""))) == ",nan\r\n");
  CHECK(resp3(Reply::real(-INFINITY)) == ",-inf\r\n");
  CHECK(resp3(Reply::big_number("123")) == "(123\r\n");
  CHECK(resp3(Reply::verbatim("abc")) == "=7\r\ntxt:abc\r\n");
  CHECK(resp3(nested_reply()) ==
        "*3\r\n%2\r\n$3\r\nkey\r\n:1\r\n*0\r\n_\r\n~2\r\n+one\r\n#f\r\n-ERR inside\r\n");
  CHECK(resp3(Reply::push({})) == ">0\r\n");
}

TEST_CASE("RESP2 steps down as Redis does") {
  CHECK(resp2(Reply::null()) == "$-1\r\n");
  CHECK(resp2(Reply::null_array()) == "*-1\r\n");
  CHECK(resp2(Reply::boolean(true)) == ":1\r\n");
  CHECK(resp2(Reply::real(1.5)) == "$3\r\n1.5\r\n");
  CHECK(resp2(Reply::real(INFINITY)) == "$3\r\ninf\r\n");
  CHECK(resp2(Reply::big_number("123")) == "$3\r\n123\r\n");
  CHECK(resp2(Reply::verbatim("abc")) == "$3\r\nabc\r\n");
  CHECK(resp2(nested_reply()) ==
        "*3\r\n*4\r\n$3\r\nkey\r\n:1\r\n*0\r\n$-1\r\n*2\r\n+one\r\n:0\r\n-ERR inside\r\n");
  CHECK(resp2(Reply::push({})) == "*0\r\n");
}

TEST_CASE("a line break in a status or an error cannot forge a reply") {
  CHECK(resp2(Reply::error("ERR a\r\n+OK")) == "-ERR a  +OK\r\n");
  CHECK(resp3(Reply::status("a\nb")) == "+a b\r\n");
}

TEST_CASE("requests are written as arrays of bulk strings") {
  OutputBuffer out;
  const std::string_view words[] = {"SET", "k", ""};
  write_request(words, out);
  CHECK(out.view() == "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n");
}

TEST_CASE("an output buffer is empty after clear and can be used again") {
  OutputBuffer out;
  out.append(std::string(1'000'000, 'x'));
  CHECK(out.size() == 1'000'000);
  out.clear();
  CHECK(out.empty());
  out.append_line(':', -9223372036854775807 - 1);
  CHECK(out.view() == ":-9223372036854775808\r\n");
}
