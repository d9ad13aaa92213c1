#include "protocol/session/transaction.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock::protocol;

namespace {

std::vector<std::string> words_of(Request request) {
  return {request.begin(), request.end()};
}

bool add(Transaction& transaction, std::vector<std::string_view> words, std::uint32_t flags = 0) {
  return transaction.add(words, flags);
}

}  // namespace

TEST_CASE("a transaction hands out its requests as they came, empty words and all") {
  Transaction transaction;
  REQUIRE(add(transaction, {"SET", "printer", ""}, 1));
  REQUIRE(add(transaction, {"PING"}, 4));
  REQUIRE(add(transaction, {"", std::string_view("\0b", 2)}));
  CHECK(transaction.size() == 3);
  CHECK(words_of(transaction.request(2)) == std::vector<std::string>{"", std::string("\0b", 2)});
  CHECK(words_of(transaction.request(0)) == std::vector<std::string>{"SET", "printer", ""});
  CHECK(words_of(transaction.request(1)) == std::vector<std::string>{"PING"});
  CHECK(transaction.flags() == 5);
  CHECK_FALSE(transaction.is_broken());
}

TEST_CASE("a transaction that is broken keeps nothing, and takes no more") {
  Transaction transaction;
  REQUIRE(add(transaction, {"SET", "printer", "alice"}));
  transaction.break_off();
  CHECK(transaction.is_broken());
  CHECK(transaction.size() == 0);
  CHECK(add(transaction, {"PING"}));
  CHECK(transaction.bytes() == 0);
}

TEST_CASE("a transaction takes kTransactionBytesMax, and is broken by a byte more") {
  const std::size_t overhead = 3 * sizeof(std::uint32_t);  // of two words and their request
  std::string value(kTransactionBytesMax - 1 - overhead, 'v');
  Transaction full;
  CHECK(add(full, {"k", value}));
  CHECK(full.bytes() == kTransactionBytesMax);
  CHECK_FALSE(full.is_broken());
  CHECK_FALSE(add(full, {}));
  CHECK(full.is_broken());
  CHECK(full.bytes() == 0);
  value += 'v';
  Transaction longer;
  CHECK_FALSE(add(longer, {"k", value}));
  CHECK(longer.is_broken());
}
