#include "coordinator/link/node_request.h"

#include <initializer_list>
#include <limits>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using redlock::protocol::Reply;

namespace {

Reply items(std::initializer_list<std::int64_t> numbers) {
  Reply reply = Reply::array();
  for (const std::int64_t number : numbers) reply.add(Reply::integer(number));
  return reply;
}

}  // namespace

TEST_CASE("what a reply to a request means") {
  CHECK(classify(RequestKind::acquire, Reply::ok()).kind == AnswerKind::yes);
  CHECK(classify(RequestKind::acquire, Reply::null()).kind == AnswerKind::no);
  CHECK(classify(RequestKind::acquire, Reply::integer(1)).kind == AnswerKind::error);
  CHECK(classify(RequestKind::release, Reply::integer(1)).kind == AnswerKind::yes);
  CHECK(classify(RequestKind::release, Reply::integer(0)).kind == AnswerKind::no);
  CHECK(classify(RequestKind::extend, Reply::null()).kind == AnswerKind::error);
  CHECK(classify(RequestKind::get, Reply::null()).kind == AnswerKind::yes);
}

TEST_CASE("what a redlock-node's replies mean") {
  const Answer granted = classify(RequestKind::acquire, items({1, 42, 30000}));
  CHECK(granted.kind == AnswerKind::yes);
  CHECK(granted.token == 42);
  CHECK(classify(RequestKind::acquire, items({1, 0, 30000})).token == 0);
  CHECK(classify(RequestKind::acquire, items({0, 500})).kind == AnswerKind::no);
  CHECK(classify(RequestKind::acquire, items({0, 500})).token == 0);
  CHECK(classify(RequestKind::acquire, items({1})).kind == AnswerKind::error);
  CHECK(classify(RequestKind::extend, items({1, 42, 500})).kind == AnswerKind::yes);
  CHECK_FALSE(classify(RequestKind::extend, items({1, 42, 500})).topped_up);
  CHECK(classify(RequestKind::extend, items({2, 42, 500}), true).topped_up);
  CHECK(classify(RequestKind::extend, items({0})).kind == AnswerKind::no);
  CHECK(classify(RequestKind::extend, items({0})).is_lacking);
  CHECK(classify(RequestKind::extend, items({0, 500})).kind == AnswerKind::no);
  CHECK_FALSE(classify(RequestKind::extend, items({0, 500})).is_lacking);
  CHECK_FALSE(classify(RequestKind::extend, items({1, 42, 500})).is_lacking);
  CHECK(classify(RequestKind::replace, items({1, 42, 500})).token == 42);
  CHECK(classify(RequestKind::replace, items({0})).is_lacking);
  CHECK(classify(RequestKind::replace, items({2, 42, 500})).kind == AnswerKind::error);
  CHECK(classify(RequestKind::replace, Reply::ok()).kind == AnswerKind::error);
  CHECK(classify(RequestKind::extend, items({})).kind == AnswerKind::error);
  CHECK(classify(RequestKind::confirm, Reply::integer(1)).kind == AnswerKind::yes);
  CHECK(classify(RequestKind::confirm, Reply::integer(0)).kind == AnswerKind::no);
}

TEST_CASE("errors that mean something to a coordinator are told apart") {
  const auto kind = [](const char* text) {
    return classify(RequestKind::acquire, Reply::error(text)).kind;
  };
  CHECK(kind("ERR recovering after a restart, no new locks for 3 ms") == AnswerKind::recovering);
  CHECK(kind("NOAUTH Authentication required.") == AnswerKind::denied);
  CHECK(kind("WRONGPASS invalid username-password pair or user is disabled.") ==
        AnswerKind::denied);
  CHECK(kind("NOPERM this user has no permissions") == AnswerKind::denied);
  CHECK(kind("BUSY Redis is busy running a script.") == AnswerKind::error);
}

TEST_CASE("what a node will never grant is told apart, also one of an earlier version") {
  const auto is_limit = [](const char* text) {
    return classify(RequestKind::acquire, Reply::error(text)).is_limit;
  };
  CHECK(is_limit("ERR a TTL of 99 ms is above this node's max-ttl (9 ms): ask for less"));
  CHECK(is_limit("ERR a key of 65536 bytes is too long: at most 65535 are taken"));
  CHECK(is_limit("ERR a key of 65536 bytes is longer than this node takes (65535)"));
  CHECK_FALSE(is_limit("ERR recovering after a restart, no new locks for 3 ms"));
}

TEST_CASE("what no sound node answers is never a vote") {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const std::int64_t beyond = static_cast<std::int64_t>(kTokenMax) + 1;
  const auto kind = [](RequestKind question, const Reply& reply) {
    return classify(question, reply).kind;
  };
  using Question = RequestKind;
  for (const Reply& reply :
       {items({1, kHuge, 500}), items({1, beyond, 500}), items({1, -1, 500}), items({1, 42, -5}),
        items({1, 42}), items({1, 42, 500, 0}), items({2, 42, 500}), items({0}), items({0, -2}),
        items({0, 1, 2}), items({-1, 5}), Reply::map({}), Reply::integer(1), Reply::bulk("OK")}) {
    CAPTURE(reply.to_string());
    CHECK(kind(Question::acquire, reply) == AnswerKind::error);
  }
  Reply map = Reply::map({});
  map.add_field("a", Reply::integer(1)).add(Reply::integer(42));
  CHECK(kind(Question::acquire, map) == AnswerKind::error);
  for (const Reply& reply :
       {items({2, 42, 500}), items({1, kHuge, 500}), items({1, 42, -5}), items({1}), items({0, -2}),
        items({0, 5, 5}), items({3, 42, 500}), Reply::integer(2)}) {
    CAPTURE(reply.to_string());
    CHECK(kind(Question::extend, reply) == AnswerKind::error);
  }
  CHECK(kind(Question::confirm, Reply::integer(2)) == AnswerKind::error);
  CHECK(kind(Question::release, Reply::integer(-1)) == AnswerKind::error);
  CHECK(kind(Question::confirm, Reply::boolean(true)) == AnswerKind::error);
}

TEST_CASE("a holder is a value with a time and a token in their ranges, or nobody") {
  const auto told = [](std::int64_t ms, std::int64_t token) {
    Reply reply = Reply::array();
    reply.add(Reply::bulk("v")).add(Reply::integer(ms)).add(Reply::integer(token));
    return classify(RequestKind::holder, reply).kind;
  };
  CHECK(classify(RequestKind::holder, Reply::null()).kind == AnswerKind::yes);
  CHECK(told(500, 7) == AnswerKind::yes);
  CHECK(told(-1, 0) == AnswerKind::yes);
  CHECK(told(-2, 7) == AnswerKind::error);
  CHECK(told(500, -7) == AnswerKind::error);
  CHECK(classify(RequestKind::holder, items({1, 2, 3})).kind == AnswerKind::error);
  CHECK(classify(RequestKind::read, items({1, 2, 3})).kind == AnswerKind::error);
}

TEST_CASE("a page of names is held to its shape") {
  const auto page = [](Reply cursor, Reply names) {
    Reply reply = Reply::array();
    reply.add(std::move(cursor)).add(std::move(names));
    return classify(RequestKind::scan, reply).kind;
  };
  const auto a_name = [] { return std::move(Reply::array().add(Reply::bulk("printer"))); };
  CHECK(page(Reply::bulk("17"), a_name()) == AnswerKind::yes);
  CHECK(page(Reply::bulk("0"), Reply::array()) == AnswerKind::yes);
  CHECK(page(Reply::integer(17), a_name()) == AnswerKind::error);
  CHECK(page(Reply::bulk("17"), Reply::bulk("printer")) == AnswerKind::error);
  CHECK(page(Reply::bulk("17"), items({1})) == AnswerKind::error);
  CHECK(classify(RequestKind::scan, Reply::null()).kind == AnswerKind::error);
  CHECK(classify(RequestKind::scan, items({1, 2, 3})).kind == AnswerKind::error);
}

TEST_CASE("what a reading tells, also of a key that somebody gave no deadline") {
  Reply reply = Reply::array();
  reply.add(Reply::bulk("v")).add(Reply::integer(500)).add(Reply::integer(7));
  const auto told = read_holder(reply);
  REQUIRE(told);
  CHECK(told->value == "v");
  CHECK(told->left == 500ms);
  CHECK(told->token == 7);
  CHECK_FALSE(read_holder(Reply::null()));

  reply.add(Reply::bulk("web3\x1b[2J"));
  CHECK(classify(RequestKind::holder, reply).kind == AnswerKind::error);  // half a label
  reply.add(Reply::integer(12'000));
  CHECK(classify(RequestKind::read, reply).kind == AnswerKind::yes);
  CHECK(read_holder(reply)->label == "web3\\x1b[2J");
  CHECK(read_holder(reply)->held == 12s);

  Reply for_ever = Reply::array();
  for_ever.add(Reply::bulk("v")).add(Reply::integer(-1));
  CHECK(read_holder(for_ever)->left == Duration::max());
  CHECK(read_holder(for_ever)->token == 0);
}

TEST_CASE("a shortening is answered as SET is, or as a script is; else it is no vote") {
  const auto shortening = [](const Reply& reply) {
    return classify(RequestKind::shorten, reply).kind;
  };
  CHECK(shortening(Reply::ok()) == AnswerKind::yes);
  CHECK(shortening(Reply::integer(1)) == AnswerKind::yes);
  CHECK(shortening(Reply::null()) == AnswerKind::no);
  CHECK(shortening(Reply::integer(0)) == AnswerKind::no);
  CHECK(shortening(Reply::integer(2)) == AnswerKind::error);
  CHECK(shortening(Reply::bulk("v")) == AnswerKind::error);
}
