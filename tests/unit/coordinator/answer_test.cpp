#include "coordinator/answer.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using redlock::protocol::Reply;

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
  const auto items = [](std::initializer_list<std::int64_t> numbers) {
    Reply reply = Reply::array();
    for (const std::int64_t number : numbers) reply.add(Reply::integer(number));
    return reply;
  };
  const Answer granted = classify(RequestKind::acquire, items({1, 42, 30000}));
  CHECK(granted.kind == AnswerKind::yes);
  CHECK(granted.token == 42);
  CHECK(classify(RequestKind::acquire, items({1, 0, 30000})).token == 0);
  CHECK(classify(RequestKind::acquire, items({0, 500})).kind == AnswerKind::no);
  CHECK(classify(RequestKind::acquire, items({0, 500})).token == 0);
  CHECK(classify(RequestKind::acquire, items({1})).kind == AnswerKind::error);
  CHECK(classify(RequestKind::extend, items({1, 42, 500})).kind == AnswerKind::yes);
  CHECK_FALSE(classify(RequestKind::extend, items({1, 42, 500})).topped_up);
  CHECK(classify(RequestKind::extend, items({2, 42, 500})).topped_up);
  CHECK(classify(RequestKind::extend, items({0})).kind == AnswerKind::no);
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
