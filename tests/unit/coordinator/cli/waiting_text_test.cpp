#include "coordinator/cli/waiting_text.h"

#include <string>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

std::string line(std::size_t columns, const std::string& name = "printer",
                 std::optional<Duration> wait = 30s) {
  const Holder holder{.value = "v", .left = 19500ms, .nodes = 5, .token = 7};
  return waiting_text(
      {.name = name, .why = held_reason(holder, 3s), .waited = 3200ms, .wait = wait, .turn = 1},
      columns);
}

}  // namespace

TEST_CASE("the line of a wait says who holds the lock, how long at most, and how long it waited") {
  CHECK(line(80) == "/ printer: held by another, at most 17 s more (waited 3 s of 30 s)");
  CHECK(line(80, "printer", std::nullopt) ==
        "/ printer: held by another, at most 17 s more (waited 3 s)");
}

TEST_CASE("it is never wider than the terminal, and tells the most important there") {
  CHECK(line(37) == "/ printer: held, at most 17 s (3 s)");
  CHECK(line(34) == "/ printer: held, at most 17 s");
  for (std::size_t columns = 12; columns < 100; ++columns) {
    CHECK(line(columns).size() <= columns);
    CHECK(line(columns, std::string(200, 'x')).size() <= columns);
  }
  CHECK(line(37, std::string(200, 'x')) == "/ xxxxxxxxxx..: held, at most 17 s");
}

TEST_CASE("a holder that says who it is, is named with how long it has held the lock") {
  const Holder holder{.value = "v",
                      .left = 19500ms,
                      .nodes = 5,
                      .token = 7,
                      .label = "backup@web3:4711",
                      .held = 9s};
  CHECK(held_reason(holder, 3s).text == "held by backup@web3:4711 for 12 s, at most 17 s more");
  CHECK(held_reason(holder, 3s).brief == "held, at most 17 s");
  WaitView view{.name = "nightly-backup-of-everything",
                .why = held_reason(holder, 3s),
                .waited = 3s,
                .wait = std::nullopt,
                .turn = 0};
  CHECK(waiting_text(view, 80) ==
        "| nightly-backup-of-everyt..: held by backup@web3:4711, at most 17 s (3 s)");
  CHECK(waiting_text(view, 40) == "| nightly-bac..: held, at most 17 s");
  view.why = held_reason({{.value = "v",
                           .left = 19500ms,
                           .nodes = 5,
                           .token = 7,
                           .label = "backup@web3.eu-central-1.example.com:4711 rsync",
                           .held = 9s}},
                         3s);
  CHECK(waiting_text(view, 80) ==
        "| nightly-backup-of-everyt..: held by backup@web3.eu-central.., at most 17 s");
}

TEST_CASE("a name's control characters do not reach the terminal") {
  CHECK(line(80, "a\x1b[2J").starts_with("/ a\\x1b[2J: held"));
}

TEST_CASE("a holder whose time is over, or has no end, or is not known") {
  Holder holder{.value = "v", .left = 2s, .nodes = 5, .token = 7};
  CHECK(held_reason(holder, 5s).text == "held by another, at most 0 s more");
  holder.left = Duration::max();
  CHECK(held_reason(holder, 5s).text == "held by another, without an end");
  CHECK(held_reason(std::nullopt, 0s).text == "held by another");
}

TEST_CASE("without a quorum the line counts what the nodes say") {
  const Error error{ErrorCode::no_quorum,
                    "no quorum: 1 of 5 nodes voted, 3 are needed",
                    {{"a", AnswerKind::yes, "granted"},
                     {"b", AnswerKind::refused, "connection refused"},
                     {"c", AnswerKind::recovering, "recovering"},
                     {"d", AnswerKind::recovering, "recovering"},
                     {"e", AnswerKind::timed_out, "timed out"}}};
  CHECK(reason_of(error).text == "no quorum: 1 of 5 voted, 2 recovering, 1 refused, 1 timed out");
  CHECK(reason_of({ErrorCode::too_late, "too late", {}}).text == "too late");
}

TEST_CASE("the last message says how long it was waited, if it was") {
  const Error held{ErrorCode::held, "held by another", {}};
  const Error outage{ErrorCode::no_quorum, "no quorum", {}};
  CHECK(waited_words(held, 2s, 2s) == "; waited 2.0 s");
  CHECK(waited_words(held, 5ms, Duration(0)).empty());
  CHECK(waited_words(outage, 20ms, std::nullopt).empty());
  CHECK(waited_words(outage, 10s, std::nullopt) == "; gave up after 10.0 s");
  CHECK(waited_words(outage, 10s, 10s) == "; waited 10.0 s");
}
