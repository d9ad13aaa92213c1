// Streams that were valid and are not any more: both parsers must neither crash nor read beyond
// what they were given, and must say the same however the bytes arrive.
#include "base/random.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_batch.h"
#include "protocol/resp/request_parser.h"
#include "protocol/resp/request_writer.h"
#include "tests/unit/protocol/reply_samples.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::protocol;

namespace {

constexpr auto kTimeMax = std::chrono::milliseconds(500);  // a test

constexpr std::string_view kPieces[] = {"\r\n", "\r", "\n", "*",  "$",  "-1",        "\"",
                                        "'",    "0",  ":",  "%2", "|1", "\\x",       "*1\r\n",
                                        "$-1",  "+",  "~1", "=4", ">",  "2147483648"};

std::size_t pick(Random& random, std::size_t bound) {
  return static_cast<std::size_t>(random.below(bound));
}

void mutate(std::string& bytes, Random& random) {
  for (auto times = 1 + random.below(4); times > 0; --times) {
    const std::size_t at = pick(random, bytes.size() + 1);
    switch (random.below(5)) {
      case 0:
        bytes.insert(at, kPieces[pick(random, std::size(kPieces))]);
        break;
      case 1:
        bytes.erase(at, 1 + pick(random, 8));
        break;
      case 2:
        bytes.insert(at, bytes.substr(pick(random, bytes.size() + 1), pick(random, 40)));
        break;
      case 3:
        bytes.resize(at);
        break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random() & 0xff);
    }
  }
}

std::string request_stream(Random& random) {
  static constexpr std::string_view kWords[] = {"SET", "lock", "", "PX", "30000", "a\r\nb", "EVAL"};
  OutputBuffer out;
  for (auto requests = 1 + random.below(4); requests > 0; --requests) {
    if (random.below(4) == 0) {
      out.append("set k \"a b\\x41\" 'c'\r\n");
      continue;
    }
    std::vector<std::string_view> words;
    for (auto count = 1 + random.below(5); count > 0; --count) {
      words.push_back(kWords[pick(random, std::size(kWords))]);
    }
    write_request(words, out);
  }
  return std::string(out.view());
}

// A copy in memory of just this size, so that the sanitizers see a read beyond it.
class Exact {
 public:
  explicit Exact(std::string_view bytes) : size_(bytes.size()), bytes_(new char[size_ + 1]) {
    std::copy(bytes.begin(), bytes.end(), bytes_.get() + 1);
  }
  std::string_view view() const { return {bytes_.get() + 1, size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

// All requests and how it ended; in pieces of 1 to `piece_max` bytes, 0: whole.
std::string parse_requests(std::string_view bytes, std::uint64_t piece_max, Random& random) {
  RequestParser parser;
  std::string told;
  std::string received(piece_max == 0 ? bytes : "");
  if (piece_max == 0) bytes = {};
  while (true) {
    const Exact given(received);
    switch (parser.parse(given.view())) {
      case RequestParser::State::complete:
        REQUIRE(parser.consumed() > 0);
        REQUIRE(parser.consumed() <= received.size());
        for (const std::string_view word : parser.request()) told.append(word).append("|");
        told += '\n';
        received.erase(0, parser.consumed());
        break;
      case RequestParser::State::broken:
        return told + parser.problem();
      case RequestParser::State::incomplete:
        if (bytes.empty()) return told + received;
        const std::size_t piece = std::min(1 + pick(random, piece_max), bytes.size());
        received += bytes.substr(0, piece);
        bytes.remove_prefix(piece);
    }
  }
}

// The same by batches, as a session does it: what no batch takes is the parser's.
std::string parse_requests_in_batches(std::string_view bytes) {
  RequestParser parser;
  RequestBatch batch;
  std::string told;
  const auto tell = [&told](Request request) {
    for (const std::string_view word : request) told.append(word).append("|");
    told += '\n';
  };
  while (true) {
    const Exact given(bytes);
    if (const std::size_t count = batch.read(given.view()); count > 0) {
      for (const Request request : batch.requests()) tell(request);
      REQUIRE(batch.end(count - 1) <= bytes.size());
      bytes.remove_prefix(batch.end(count - 1));
      continue;
    }
    switch (parser.parse(given.view())) {
      case RequestParser::State::complete:
        tell(parser.request());
        bytes.remove_prefix(parser.consumed());
        break;
      case RequestParser::State::broken:
        return told + parser.problem();
      case RequestParser::State::incomplete:
        return told + std::string(bytes);
    }
  }
}

std::string parse_replies(std::string_view bytes, std::uint64_t piece_max, Random& random) {
  ReplyParser parser;
  std::string told;
  std::string received(piece_max == 0 ? bytes : "");
  if (piece_max == 0) bytes = {};
  while (true) {
    const Exact given(received);
    const ReplyParser::State state = parser.parse(given.view());
    if (state == ReplyParser::State::broken) return told + parser.problem();
    if (state == ReplyParser::State::complete) {
      REQUIRE(parser.consumed() > 0);
      REQUIRE(parser.consumed() <= received.size());
      told += parser.take_reply().to_string() + '\n';
      received.erase(0, parser.consumed());
      continue;
    }
    if (bytes.empty()) return told + received;
    const std::size_t piece = std::min(1 + pick(random, piece_max), bytes.size());
    received += bytes.substr(0, piece);
    bytes.remove_prefix(piece);
  }
}

// Runs rounds until there were enough or the time is over; each from a seed of its own.
template <class Round>
void run_rounds(std::uint64_t seed, Round round) {
  const auto end = std::chrono::steady_clock::now() + kTimeMax;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    if (std::chrono::steady_clock::now() > end) break;
    CAPTURE(seed + i);
    Random random(seed + i);
    round(random);
  }
}

std::uint64_t fresh_seed() {
  return std::random_device{}();
}

}  // namespace

TEST_CASE("a mutated stream of requests is parsed the same whole, in pieces and in batches") {
  for (const std::uint64_t seed : {std::uint64_t{1}, fresh_seed()}) {
    run_rounds(seed, [](Random& random) {
      std::string bytes = request_stream(random);
      mutate(bytes, random);
      CAPTURE(bytes);
      const std::string whole = parse_requests(bytes, 0, random);
      REQUIRE(parse_requests(bytes, 1 + random.below(20), random) == whole);
      REQUIRE(parse_requests_in_batches(bytes) == whole);
    });
  }
}

TEST_CASE("a mutated stream of replies is parsed the same whole and in pieces") {
  std::vector<std::string> samples;
  for (const Reply& reply : resp3_samples()) {
    if (reply.text().size() > 100) continue;
    samples.push_back(written(reply, Version::resp3));
    samples.push_back(written(reply, Version::resp2));
  }
  for (const std::uint64_t seed : {std::uint64_t{1}, fresh_seed()}) {
    run_rounds(seed, [&](Random& random) {
      std::string bytes;
      for (auto replies = 1 + random.below(3); replies > 0; --replies) {
        bytes += samples[pick(random, samples.size())];
      }
      mutate(bytes, random);
      CAPTURE(bytes);
      const std::string whole = parse_replies(bytes, 0, random);
      REQUIRE(parse_replies(bytes, 1 + random.below(20), random) == whole);
    });
  }
}
