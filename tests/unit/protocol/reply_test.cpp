#include "protocol/resp/reply.h"

#include "protocol/resp/limits.h"

#include <catch2/catch.hpp>

using namespace redlock::protocol;

TEST_CASE("a reply is told in one line, as redis-cli would") {
  CHECK(Reply::ok().to_string() == "+OK");
  CHECK(Reply::error_view("ERR no").to_string() == "-ERR no");
  CHECK(Reply::integer(-7).to_string() == "(integer) -7");
  CHECK(Reply::bulk("a \"b\"\r\n\t\\\x01\xff").to_string() == R"("a \"b\"\r\n\t\\\x01\xff")");
  CHECK(Reply::null().to_string() == "(nil)");
  CHECK(Reply::null_array().to_string() == "(nil)");
  CHECK(Reply::boolean(true).to_string() == "(true)");
  CHECK(Reply::real(1.5).to_string() == "(double) 1.5");
  CHECK(Reply::big_number("123").to_string() == "(big number) 123");
  CHECK(Reply::verbatim("text").to_string() == "\"text\"");
  CHECK(Reply::none().to_string() == "(nothing)");
  CHECK(Reply::later().to_string() == "(later)");
}

TEST_CASE("aggregates are built in one expression and told with their own brackets") {
  Reply map = Reply::map({});
  map.add_field("k", Reply::integer(1));
  Reply all = Reply::array();
  all.add(std::move(map)).add(Reply::set({})).add(Reply::push({}));
  CHECK(all.to_string() == R"([{"k": (integer) 1}, ~[], >[]])");
  CHECK(all.is_aggregate());
  CHECK(all.items().size() == 3);
}

TEST_CASE("an owned copy outlives what a view looked at, a moved reply keeps its text") {
  Reply kept;
  {
    const std::string stored = "a value that is longer than a small string";
    Reply view = Reply::array();
    view.add(Reply::bulk_view(stored)).add(Reply::integer(3));
    kept = view.owned();
    CHECK(kept == view);
  }
  const Reply moved = std::move(kept);
  CHECK(moved.to_string() == R"(["a value that is longer than a small string", (integer) 3])");
}

TEST_CASE("replies are equal when kind and content are") {
  CHECK(Reply::bulk("a") == Reply::bulk_view("a"));
  CHECK_FALSE(Reply::bulk("a") == Reply::status("a"));
  CHECK_FALSE(Reply::bulk("a") == Reply::bulk("b"));
  CHECK_FALSE(Reply::null() == Reply::null_array());
  CHECK_FALSE(Reply::integer(1) == Reply::boolean(true));
  CHECK_FALSE(Reply::array() == Reply::set({}));
}

TEST_CASE("what a reply does not have is empty") {
  CHECK(Reply::integer(1).text().empty());
  CHECK(Reply::integer(1).items().empty());
  CHECK(Reply::bulk("a").integer() == 0);
  CHECK(Reply::real(2.5).integer() == 0);
  CHECK(Reply::real(2.5).real() == 2.5);
  CHECK(Reply::integer(2).real() == 0.0);
}

TEST_CASE("a reply knows about what it takes, and one that would take too much holds nothing") {
  const std::string text(1'000'000, 'x');
  Reply array = Reply::array();
  CHECK(array.memory_bytes() < 100);
  array.add(Reply::bulk_view(text));
  CHECK(array.memory_bytes() > text.size());
  CHECK(array.integer() == 0);
  CHECK(array == array.owned());
  const std::size_t most = kReplyMemoryMax / text.size();
  for (std::size_t i = 1; i < most; ++i) array.add(Reply::bulk_view(text));
  CHECK(array.is(Reply::Kind::array));
  array.add(Reply::bulk_view(text));
  CHECK(array.is(Reply::Kind::too_large));
  CHECK(array.items().empty());
  CHECK(array.add(Reply::integer(1)).is(Reply::Kind::too_large));
  CHECK(array.to_string() == "(too large)");
  CHECK(Reply::map({}).add_field("k", Reply::too_large()).is(Reply::Kind::too_large));
  std::vector<Reply> items;
  for (std::size_t i = 0; i <= most; ++i) items.push_back(Reply::bulk_view(text));
  CHECK(Reply::array(std::move(items)).is(Reply::Kind::too_large));
}
