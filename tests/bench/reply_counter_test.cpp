// The generator's count of replies is what a benchmark's figures rest on.
#include "tests/bench/reply_counter.h"

#include "tests/bench/key_order.h"
#include "tests/bench/request_template.h"

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

namespace redlock::bench {
namespace {

constexpr std::string_view kTranscript =
    "+OK\r\n$-1\r\n:1\r\n:0\r\n$5\r\nal\r\ni\r\n_\r\n"
    "*3\r\n:1\r\n:17\r\n:29698\r\n*2\r\n:0\r\n:100\r\n*-1\r\n*0\r\n$0\r\n\r\n";

TEST_CASE("a hit is a reply that says yes, or a value") {
  ReplyCounter counter(1);
  CHECK(counter.take(kTranscript) == kTranscript.size());
  CHECK(counter.replies() == 11);
  CHECK(counter.bytes() == kTranscript.size());
  CHECK(counter.counts(0).hits == 5);
  CHECK(counter.counts(0).misses == 6);
  CHECK(counter.problem().empty());
}

TEST_CASE("a reply counts once it is whole, wherever the bytes were cut") {
  for (std::size_t cut = 0; cut <= kTranscript.size(); ++cut) {
    ReplyCounter counter(1);
    std::string pending(kTranscript.substr(0, cut));
    pending.erase(0, counter.take(pending));
    pending += kTranscript.substr(cut);
    CHECK(counter.take(pending) == pending.size());
    CHECK(counter.replies() == 11);
    CHECK(counter.counts(0).hits == 5);
  }
}

TEST_CASE("an error is never a hit, and its text is kept") {
  ReplyCounter counter(1);
  counter.take("+OK\r\n-ERR recovering after a restart\r\n:1\r\n-ERR another\r\n");
  CHECK(counter.counts(0).hits == 2);
  CHECK(counter.counts(0).errors == 2);
  CHECK(counter.problem() == "-ERR recovering after a restart");

  ReplyCounter within(1);
  within.take("*2\r\n:1\r\n-ERR no\r\n");
  CHECK(within.counts(0).errors == 1);
  CHECK(within.counts(0).hits == 0);
}

TEST_CASE("what is no RESP is a problem") {
  ReplyCounter counter(1);
  counter.take("HTTP/1.1 200 OK\r\n");
  CHECK(counter.problem() == "HTTP/1.1 200 OK");
}

TEST_CASE("the replies to the commands of a round are told apart") {
  ReplyCounter counter(2);
  counter.take("+OK\r\n:1\r\n+OK\r\n:0\r\n$-1\r\n");
  CHECK(counter.counts(0).hits == 2);
  CHECK(counter.counts(0).misses == 1);
  CHECK(counter.counts(1).hits == 1);
  CHECK(counter.counts(1).misses == 1);
}

TEST_CASE("the digits of a round are its key's, in key and value") {
  const RequestTemplate round(
      {{"SET", "{key}", "{value}", "PXAT", "{deadline}"}, {"GET", "{key}"}});
  CHECK(round.commands() == 2);
  RequestBatch batch(round, 3);
  batch.set(0, {.key = 999'999, .deadline_ms = 1'800'000'000'000});
  batch.set(1, {.key = 17, .deadline_ms = 1'234'567'890'123});
  const std::string second =
      "*5\r\n$3\r\nSET\r\n$17\r\nlock:000000000017\r\n"
      "$40\r\n0123456789abcdef0123456789ab000000000017\r\n$4\r\nPXAT\r\n$13\r\n1234567890123\r\n"
      "*2\r\n$3\r\nGET\r\n$17\r\nlock:000000000017\r\n";
  CHECK(round.bytes().size() == second.size());
  CHECK(batch.view(2).substr(second.size()) == second);
  CHECK(batch.view(3).size() == 3 * second.size());
}

TEST_CASE("an order asks for the same keys as another order of the same seed") {
  const KeyPlan plan{.keys = 1000, .rounds = 1000, .seed = 7, .order = 1};
  auto first = key_order(plan);
  auto second = key_order({.keys = 1000, .rounds = 1000, .seed = 7, .order = 2});
  CHECK(first == key_order(plan));
  CHECK(first != second);
  CHECK(distinct_keys(first, 1000) == distinct_keys(second, 1000));
  CHECK(distinct_keys(first, 1000) < 1000);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  CHECK(first == second);
}

TEST_CASE("no key is drawn twice when each is to be drawn once") {
  const auto keys = key_order({.keys = 1000, .rounds = 600, .draw = Draw::once});
  CHECK(keys.size() == 600);
  CHECK(distinct_keys(keys, 1000) == 600);
}

}  // namespace
}  // namespace redlock::bench
