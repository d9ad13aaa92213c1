// The figures: availability, latency, counts; and that they are quick to come by.
#include "coordinator/drill/history/figures.h"

#include "coordinator/drill/history/check_report.h"
#include "tests/unit/coordinator/drill/history/told_history.h"

#include <chrono>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

Summary summary_of(const std::string& transcript) {
  const History history = told_history(transcript);
  return check(history, tell(history)).summary;
}

Availability availability(const std::string& transcript) {
  return summary_of(transcript).availability;
}

TEST_CASE("a lock that is held is available, and one that nobody wants is no matter") {
  const Availability held = availability(R"(
      0  anna  asks
     10  anna  acquired 1 asked 0 until 100
     20  bert  asks
     60  anna  releases 1
     60  bert  acquired 2 asked 20 until 150
    100  bert  releases 2
    900  anna  started
  )");
  CHECK(held.wanted == 100ms);
  CHECK(held.in_vain == 10ms);
  CHECK(held.longest.length() == 10ms);
  CHECK(held.share() == Approx(0.9));
  CHECK(availability("0 anna started\n 50 anna killed\n").share() == 1);
}

TEST_CASE("who is refused and asks again has wanted it meanwhile") {
  const std::string again = R"(
      0  anna  asks
     10  anna  refused because no_quorum
     40  anna  asks
     50  anna  acquired 1 asked 40 until 100
     60  anna  releases 1
  )";
  CHECK(availability(again).longest.length() == 50ms);
  // Not if it turned to something else.
  CHECK(availability(again + R"(
     20  anna  asks of b
     30  anna  refused of b
  )")
            .longest.length() == 10ms);
}

TEST_CASE("a client that is stopped or dead wants nothing") {
  CHECK(availability(R"(
      0  anna  asks
     10  anna  stopped
     90  anna  continued
    100  anna  acquired 1 asked 0 until 200
    150  anna  releases 1
  )")
            .in_vain == 20ms);
  CHECK(availability(R"(
      0  anna  asks
     10  anna  killed
    100  anna  started
  )")
            .in_vain == 10ms);
  // It asked when its death had been told already.
  CHECK(availability(R"(
      0  anna  killed
      1  anna  asks
    100  anna  started
    200  anna  stopped
  )")
            .in_vain == 0ms);
}

TEST_CASE("the time after a killed holder's validity counts as not available") {
  const Availability gap = availability(R"(
      0  anna  acquired 1 until 100
     10  anna  killed
     20  bert  asks
    130  bert  acquired 2 asked 20 until 200
    150  bert  releases 2
  )");
  CHECK(gap.longest.from == Instant(100ms));
  CHECK(gap.longest.length() == 30ms);
}

TEST_CASE("attempts, latencies and faults are counted") {
  const Summary summary = summary_of(R"(
      0  anna    asks
      1  anna    acquired 1 asked 0 token 1 until 100
      1  bert    asks
      2  bert    refused because held
      3  anna    extended 1 until 110
      5  bert    asks
      6  node 1  killed
      6  node 2  killed
      7  node 1  started
      7  node 1  recovering until 50
      8  anna    releases 1
     10  bert    acquired 2 asked 5 until 100
     12  bert    stopped
     13  carl    asks
    120  bert    continued
    121  bert    lost 2
    130  anna    asks
    131  anna    stopped
    140  anna    continued
    141  anna    acquired 3 asked 130 token 3 until 300
  )");
  CHECK(summary.acquired == 3);
  CHECK(summary.fenced == 2);
  CHECK(summary.refused == std::map<std::string, std::size_t>{{"held", 1}});
  CHECK(summary.unanswered == 1);
  CHECK(summary.extended == 1);
  CHECK(summary.released == 1);
  CHECK(summary.latency.count == 2);  // not of who was stopped meanwhile
  CHECK(summary.latency.median == 1ms);
  CHECK(summary.latency.max == 5ms);
  CHECK(summary.faults_of_nodes.at(static_cast<std::size_t>(What::killed)) == 2);
  CHECK(summary.faults_of_clients.at(static_cast<std::size_t>(What::stopped)) == 2);
  CHECK(summary.pauses_over_an_end == 1);
}

// `count` clients after one another, or, without a lock, ten of them at once.
std::string long_history(int count, bool is_locked) {
  std::string text = header_line({.title = "long"});
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = i * std::int64_t{1000};
    Event event{.at = Instant(Duration(start)),
                .who = fmt::format("client {}", i % 10),
                .what = What::asks,
                .lock = fmt::format("lock {}", is_locked ? i % 10 : 0)};
    text += event_line(event);
    event.what = What::acquired;
    event.hold = fmt::format("hold {}", i);
    event.asked = event.at;
    event.at += 100ns;
    event.token = static_cast<std::uint64_t>(i) + 1;
    event.valid_until = event.at + 20us;
    text += event_line(event);
    event.what = What::wrote;
    event.accepted = true;
    text += event_line(event);
    event.what = What::releases;
    event.at = Instant(Duration(start + 9000));
    text += event_line(event);
  }
  return text;
}

TEST_CASE("a fifth of a million events are read and judged in seconds") {
  const bool is_locked = GENERATE(true, false);
  const std::string text = long_history(50'000, is_locked);
  const auto begin = std::chrono::steady_clock::now();
  const auto history = parse_history({{"long", text}});
  REQUIRE(history);
  REQUIRE(history.value().events.size() == 200'000);
  const Report report = check(history.value(), tell(history.value()));
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(report.is_clean() == is_locked);
  if (!is_locked) CHECK(report.counts[0] > 200'000);
  CHECK(took < 20s);  // one second; ten of them under sanitizers
}

TEST_CASE("a duration has the unit that reads well, also next to the end of one") {
  CHECK(precise_duration(999ns) == "999 ns");
  CHECK(precise_duration(999'499ns) == "999 µs");
  CHECK(precise_duration(999'600ns) == "1 ms");
  CHECK(precise_duration(999'499us) == "999 ms");
  CHECK(precise_duration(999'600us) == "0.9996 s");
  CHECK(precise_duration(12'346ms) == "12.35 s");
  CHECK(precise_duration(59'994ms) == "59.99 s");
  CHECK(precise_duration(59'996ms) == "1 min");
  CHECK(precise_duration(60'142ms) == "1 min");
  CHECK(precise_duration(119'700ms) == "2 min");
  CHECK(precise_duration(125'400ms) == "2 min 5 s");
}

TEST_CASE("people read a paragraph, and programs one object") {
  const History history = told_history(R"(
     10  anna  acquired 1 token 1 until 100
     99  bert  acquired 2 token 2 until 150
    100  anna  releases 1
    140  bert  releases 2
  )");
  const Story story = tell(history);
  const Report report = check(history, story);
  const std::string text = report_text(history, story, report);
  INFO(text);
  CHECK_THAT(text, Catch::StartsWith("130 ms, 2 clients, 0 nodes, 1 lock\n"));
  CHECK_THAT(text, Catch::Contains("\ntwo holders at once: 1\n  lock \"a\" had two holders"));
  CHECK_THAT(text, Catch::EndsWith("\n1 finding: two holders at once: 1.\n"));
  const std::string json = report_json(history, story, report);
  CHECK_THAT(json, Catch::Contains(R"("clean":false)"));
  CHECK_THAT(json, Catch::Contains(R"("counts":{"overlap":1,"token_order":0)"));
  CHECK_THAT(json, Catch::Contains(R"("places":["line 2","line 3"])"));
}

TEST_CASE("an old history, without TTLs, is told to be judged in part") {
  const auto text_of = [](const std::string& transcript) {
    const History history = told_history(transcript);
    const Story story = tell(history);
    const Report report = check(history, story);
    return report_text(history, story, report) + report_json(history, story, report);
  };
  const std::string with_ttl = "10 anna acquired 1 until 100 ttl 100\n 20 anna releases 1\n";
  const std::string all = text_of(with_ttl);
  CHECK_THAT(all, !Catch::Contains("TTLs"));
  CHECK_THAT(all, Catch::Contains("no lock revived, no validity too long.\n"));
  CHECK_THAT(all, Catch::Contains(R"("revived":0,"long_validity":0)"));
  CHECK_THAT(all, Catch::Contains(R"("without_ttl":0)"));
  const std::string some =
      text_of(with_ttl + "30 bert acquired 2 until 100\n 40 bert releases 2\n");
  CHECK_THAT(some, Catch::Contains("\n  TTLs              1 of 2 holds not told; whether their "
                                   "validity is too long cannot be judged\n"));
  CHECK_THAT(some, Catch::Contains("every loss noticed in time, no lock revived.\n"));
  CHECK_THAT(some, Catch::Contains(R"("without_ttl":1)"));
}

}  // namespace
}  // namespace redlock::drill
