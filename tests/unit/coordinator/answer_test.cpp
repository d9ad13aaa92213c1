#include "coordinator/answer.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using redlock::protocol::Reply;

TEST_CASE("what a reply to a request means") {
  CHECK(classify(RequestKind::set, Reply::ok()).kind == AnswerKind::yes);
  CHECK(classify(RequestKind::set, Reply::null()).kind == AnswerKind::no);
  CHECK(classify(RequestKind::set, Reply::integer(1)).kind == AnswerKind::error);
  CHECK(classify(RequestKind::release, Reply::integer(1)).kind == AnswerKind::yes);
  CHECK(classify(RequestKind::release, Reply::integer(0)).kind == AnswerKind::no);
  CHECK(classify(RequestKind::extend, Reply::null()).kind == AnswerKind::error);
  CHECK(classify(RequestKind::get, Reply::null()).kind == AnswerKind::yes);
}

TEST_CASE("errors that mean something to a coordinator are told apart") {
  const auto kind = [](const char* text) {
    return classify(RequestKind::set, Reply::error(text)).kind;
  };
  CHECK(kind("ERR recovering after a restart, no new locks for 3 ms") == AnswerKind::recovering);
  CHECK(kind("NOAUTH Authentication required.") == AnswerKind::denied);
  CHECK(kind("WRONGPASS invalid username-password pair or user is disabled.") ==
        AnswerKind::denied);
  CHECK(kind("NOPERM this user has no permissions") == AnswerKind::denied);
  CHECK(kind("BUSY Redis is busy running a script.") == AnswerKind::error);
}
