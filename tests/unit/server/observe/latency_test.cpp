#include "server/observe/latency.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

using Buckets = std::vector<std::pair<std::int64_t, std::uint64_t>>;

WallTime at(std::int64_t second) {
  return WallTime(std::chrono::seconds(second));
}

}  // namespace

TEST_CASE("a histogram counts calls up to bounds that double, as Redis tells them") {
  CallHistogram histogram;
  CHECK(histogram.cumulated().empty());
  histogram.add(0ns);
  histogram.add(1031ns);
  CHECK(histogram.cumulated() == Buckets{{1, 2}});
  histogram.add(1032ns);
  histogram.add(33'023ns);
  histogram.add(8'454'143ns);
  CHECK(histogram.cumulated() == Buckets{{1, 2}, {2, 3}, {33, 4}, {8454, 5}});
  CHECK(histogram.calls() == 5);
  histogram.add(1000h);  // beyond all bounds
  CHECK(histogram.cumulated().back().second == 6);
}

TEST_CASE("of a second the longest counts") {
  LatencyEvents events;
  events.add("command", at(100), 7);
  events.add("command", at(100), 20);
  events.add("command", at(100), 9);
  events.add("command", at(103), 5);
  const auto* event = events.find("command");
  REQUIRE(event != nullptr);
  REQUIRE(event->samples.size() == 2);
  CHECK(event->samples[0].ms == 20);
  CHECK(event->samples[1].second == 103);
  CHECK(event->longest_ms == 20);
  CHECK(events.find("fast-command") == nullptr);
  CHECK(events.forget("command"));
  CHECK_FALSE(events.forget("command"));
}

TEST_CASE("an event keeps kSamplesMax samples, and its longest for good") {
  LatencyEvents events;
  events.add("command", at(0), 99);
  for (std::size_t i = 1; i <= LatencyEvents::kSamplesMax; ++i) {
    events.add("command", at(static_cast<std::int64_t>(i)), 5);
  }
  CHECK(events.find("command")->samples.size() == LatencyEvents::kSamplesMax);
  CHECK(events.find("command")->samples.front().second == 1);
  CHECK(events.find("command")->longest_ms == 99);
}

TEST_CASE("the picture of an event has a column for each sample") {
  LatencyEvents events;
  events.add("command", at(1000), 20);
  events.add("command", at(1005), 6);
  events.add("command", at(1090), 13);
  CHECK(LatencyEvents::picture("command", *events.find("command"), at(1100)) ==
        "command - high 20 ms, low 6 ms (all time high 20 ms)\n" + std::string(80, '-') +
            "\n"
            "#  \n"
            "| _\n"
            "| |\n"
            "|_|\n"
            "\n"
            "111\n"
            "mm0\n"
            "  s\n");
}

TEST_CASE("the report says what is off, what is well, and what took too long") {
  LatencyEvents events;
  CHECK(events.report(0).starts_with("Nothing is watched: CONFIG SET latency-monitor-threshold"));
  CHECK(events.report(5) == "Nothing that is timed took 5 ms or more.\n");
  events.add("command", at(100), 20);
  events.add("command", at(101), 6);
  CHECK(events.report(5).starts_with(
      "1. command: 2 times too long (on average 13 ms, mean deviation 7 ms, one in 0.50 s); the "
      "longest took 20 ms.\n"));
}
