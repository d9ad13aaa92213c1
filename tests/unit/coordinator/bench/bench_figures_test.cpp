// What `redlock bench` counts and tells.
#include "coordinator/bench/bench_figures.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("a share of latencies is told with at most 0.8 percent more than it was, never less") {
  const std::uint64_t seed = 5;
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    LatencyHistogram histogram;
    std::vector<Duration> all;
    const std::uint64_t magnitude = std::uint64_t{1} << random.below(50);
    for (int i = 0; i < 500; ++i) {
      all.emplace_back(static_cast<std::int64_t>(random.below(magnitude)));
      histogram.add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double share : {0.0, 0.002, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto rank = static_cast<std::size_t>(std::max(std::ceil(share * 500), 1.0));
      const Duration exact = all[rank - 1];
      const Duration told = histogram.at(share);
      CHECK(told >= exact);
      CHECK(static_cast<double>(told.count()) <= static_cast<double>(exact.count()) * 1.008);
    }
    CHECK(histogram.max() == all.back());
    CHECK(histogram.at(1) == all.back());
  }
}

TEST_CASE("the longest times have a place too") {
  LatencyHistogram histogram;
  histogram.add(Duration::max());
  histogram.add(0ns);
  CHECK(histogram.at(0.5) == 0ns);
  CHECK(histogram.at(1) == Duration::max());
  CHECK(histogram.bars().back().up_to == Duration::max());
  CHECK(LatencyHistogram().at(0.5) == 0ns);
}

TEST_CASE("bars are drawn from the first time to the last, and lose none") {
  LatencyHistogram histogram;
  for (const Duration took : {2900ns, 3900ns, 9000ns, 11'000ns}) histogram.add(took);
  std::vector<std::pair<Duration, std::uint64_t>> bars;
  for (const auto& bar : histogram.bars()) bars.emplace_back(bar.up_to, bar.count);
  CHECK(bars == std::vector<std::pair<Duration, std::uint64_t>>{
                    {3us, 1}, {4us, 1}, {5us, 0}, {6us, 0}, {8us, 0}, {10us, 1}, {12us, 1}});
  CHECK(LatencyHistogram().bars().empty());
}

namespace {

NodeAnswer answer_of(const std::string& node, AnswerKind kind) {
  return {.node = node, .kind = kind, .text = "", .took = 200us};
}

BenchFigures some_figures() {
  BenchFigures figures;
  figures.in_flight = 50;
  figures.ttl = 30s;
  figures.passed = 2s;
  figures.cpu = 20ms;
  figures.note_nodes({{.answer = answer_of("a:1", AnswerKind::yes), .state = "serving"},
                      {.answer = answer_of("b:1", AnswerKind::timed_out), .state = "timed out"}});
  for (unsigned i = 0; i < 1000; ++i) {
    figures.note_acquired(100us, {.round_trips = i < 10 ? 2u : 1u});
    figures.note_released(80us, 180us);
  }
  figures.note_failed(figures.acquire, {.code = ErrorCode::no_quorum,
                                        .text = "",
                                        .nodes = {answer_of("a:1", AnswerKind::yes),
                                                  answer_of("b:1", AnswerKind::recovering)}});
  return figures;
}

}  // namespace

TEST_CASE("a bench tells rate, latencies, what failed, and what each node said") {
  const std::string text = bench_text(some_figures());
  for (const char* part :
       {"2 nodes, 50 locks in flight, TTL 30s, with fencing tokens", "500 locks a second",
        "20.0 us of this process's CPU each", "1.00 % of the acquisitions took a second round trip",
        "acquire        1,000", "acquire failed: 1 no quorum", "b:1", "0/1", "timed out",
        "(failures: 1 recovering)"}) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(bench_line(some_figures()) == "500 locks/s, p50 180 us, 1 failed");
}

TEST_CASE("a bench's JSON has the same figures") {
  const auto told = nlohmann::json::parse(bench_json(some_figures()));
  CHECK(told["pairs"] == 1000);
  CHECK(told["pairs_per_second"] == 500.0);
  CHECK(told["cpu_us_per_pair"] == 20.0);
  CHECK(told["second_rounds"] == 10);
  CHECK(told["acquire"]["count"] == 1000);
  CHECK(told["acquire"]["failed"]["no quorum"] == 1);
  CHECK(told["acquire"]["p50_us"] == 100.0);
  CHECK(told["pair"]["max_us"] == 180.0);
  CHECK(told["nodes"][0]["round_trip"]["count"] == 1);
  CHECK(told["nodes"][1]["round_trip"]["count"] == 0);
  CHECK(told["nodes"][1]["missed"]["recovering"] == 1);
}

TEST_CASE("a bench in which nothing was acquired can be told as well") {
  BenchFigures nothing;
  CHECK(bench_text(nothing).find("0 locks a second") != std::string::npos);
  CHECK(nlohmann::json::parse(bench_json(nothing))["pairs"] == 0);
}
