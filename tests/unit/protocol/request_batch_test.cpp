#include "protocol/resp/request_batch.h"

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request_writer.h"
#include "tests/support/repeated.h"

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock::protocol;

namespace {

std::string request(const std::vector<std::string_view>& words) {
  OutputBuffer out;
  write_request(words, out);
  return std::string(out.view());
}

// How many requests it takes from the front of the bytes.
std::size_t taken(std::string_view bytes) {
  return RequestBatch().read(bytes);
}

const std::string kGet = request({"GET", "printer"});

}  // namespace

TEST_CASE("a batch has the whole requests at the front, and says where each ends") {
  const std::string bytes = kGet + request({"SET", "", "a\r\nb"}) + "*1\r\n$4\r\nPI";
  RequestBatch batch;
  REQUIRE(batch.read(bytes) == 2);
  CHECK(batch[0][0] == "GET");
  CHECK(batch[0][1] == "printer");
  CHECK(batch.end(0) == kGet.size());
  CHECK(batch[1].size() == 3);
  CHECK(batch[1][1].empty());
  CHECK(batch[1][2] == "a\r\nb");
  CHECK(bytes.substr(batch.end(1)) == "*1\r\n$4\r\nPI");
  CHECK(batch.read(bytes.substr(batch.end(1))) == 0);
}

TEST_CASE("whatever is not plain ends a batch") {
  for (const char* rest :
       {"PING\r\n", "*0\r\n", "*-1\r\n", "*01\r\n$1\r\na\r\n", "*1\r\n$01\r\na\r\n", "*\r\n",
        "*1\r\n$-1\r\n", "*1\r\n:1\r\na\r\n", "*1\r\n$10000000\r\n", "*99999999999999999999\r\n",
        "*1\n$4\nPING\n", "*1 \r\n$4\r\nPING\r\n", "\r\n", ""}) {
    CAPTURE(rest);
    CHECK(taken(rest) == 0);
    CHECK(taken(kGet + rest) == 1);
  }
}

TEST_CASE("a request is plain when its last byte is there, and not before") {
  for (std::size_t size = 0; size < kGet.size(); ++size) CHECK(taken(kGet.substr(0, size)) == 0);
  CHECK(taken(kGet) == 1);
}

TEST_CASE("a batch has room for so many requests and words, and takes none in part") {
  CHECK(taken(repeated(kGet, RequestBatch::kRequestsMax + 1)) == RequestBatch::kRequestsMax);
  const std::vector<std::string_view> words(RequestBatch::kWordsMax, "k");
  CHECK(taken(request(words)) == 1);
  CHECK(taken(kGet + request(words)) == 1);
  CHECK(taken(request(std::vector<std::string_view>(RequestBatch::kWordsMax + 1, "k"))) == 0);
}
