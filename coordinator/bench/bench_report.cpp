// What `redlock bench` tells: for people, and as JSON.
#include "base/text/json.h"
#include "coordinator/bench/bench_figures.h"
#include "coordinator/bench/bench_words.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr std::size_t kBarWidth = 40;

std::string latency_line(std::string_view name, const LatencyHistogram& latency) {
  std::string line = fmt::format("{:<8}{:>12}", name, grouped(latency.count()));
  for (const double share : kToldShares) line += fmt::format("{:>10}", short_time(latency, share));
  return line + "\n";
}

std::string drawn(std::string_view name, const LatencyHistogram& latency) {
  const std::vector<ShownBar> bars = shown_bars(latency);
  const double largest = largest_share(bars);
  std::string text = fmt::format("\n{}\n", name);
  for (const ShownBar& bar : bars) {
    const std::string filled(static_cast<std::size_t>(bar.share / largest * kBarWidth), '#');
    text +=
        fmt::format("  {:<16} {:<{}}{:>7.2f} %\n", bar.words, filled, kBarWidth, bar.share * 100);
  }
  return text;
}

std::string node_lines(const std::vector<NodeFigures>& nodes) {
  std::size_t width = 4;
  for (const NodeFigures& node : nodes) width = std::max(width, node.node.size());
  std::string text = fmt::format("\n{:<{}}{:>11}{:>10}{:>10}{:>10}  {}\n", "NODE", width,
                                 "ROUND TRIP", "p99", "max", "answered", "STATE");
  for (const NodeFigures& node : nodes) {
    const LatencyHistogram& trip = node.round_trip;
    const std::string missed = counted(node.missed);
    text += fmt::format("{:<{}}{:>11}{:>10}{:>10}{:>6}/{:<5}  {}{}\n", node.node, width,
                        short_time(trip, 0.5), short_time(trip, 0.99), short_time(trip, 1),
                        trip.count(), node.asked, node.state,
                        missed.empty() ? "" : fmt::format(" (failures: {})", missed));
  }
  return text;
}

JsonObject json_of(const LatencyHistogram& latency) {
  JsonArray bars;
  for (const auto& bar : latency.bars()) {
    bars.add(JsonObject{{"up_to_us", microseconds(bar.up_to)}, {"count", bar.count}});
  }
  return {{"count", latency.count()},
          {"p50_us", microseconds(latency.at(0.5))},
          {"p90_us", microseconds(latency.at(0.9))},
          {"p99_us", microseconds(latency.at(0.99))},
          {"p999_us", microseconds(latency.at(0.999))},
          {"max_us", microseconds(latency.max())},
          {"histogram", bars}};
}

JsonObject json_of(const OperationFigures& operation) {
  JsonObject told = json_of(operation.latency);
  told.add("failed", operation.failed);
  return told;
}

JsonObject json_of(const NodeFigures& node) {
  return {{"node", node.node},
          {"state", node.state},
          {"asked", node.asked},
          {"round_trip", json_of(node.round_trip)},
          {"missed", node.missed}};
}

// Where a terminal is left.
std::string ending(const BenchFigures& figures) {
  std::string text = fmt::format("\n{}\n", what_was_done(figures));
  if (const std::string rounds = second_rounds(figures); !rounds.empty()) text += rounds + "\n";
  return text + fmt::format("{} {}\n", pace(figures), pace_details(figures));
}

}  // namespace

std::string bench_line(const BenchFigures& figures) {
  const std::uint64_t failures = figures.acquire.failures() + figures.release.failures();
  return fmt::format("{} locks/s, p50 {}{}",
                     grouped(static_cast<std::uint64_t>(figures.pairs_per_second())),
                     short_time(figures.pair, 0.5),
                     failures == 0 ? "" : fmt::format(", {} failed", grouped(failures)));
}

std::string bench_text(const BenchFigures& figures) {
  std::string text;
  if (figures.acquire.latency.count() > 0) {
    text += fmt::format("{:<8}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "count", "p50", "p90",
                        "p99", "p99.9", "max");
    text += latency_line("acquire", figures.acquire.latency);
    text += latency_line("release", figures.release.latency);
    text += latency_line("both", figures.pair);
  }
  for (const auto& [name, operation] :
       {std::pair{"acquire", &figures.acquire}, std::pair{"release", &figures.release}}) {
    if (!operation->failed.empty()) {
      text += fmt::format("{} failed: {}\n", name, counted(operation->failed));
    }
  }
  if (figures.acquire.latency.count() > 0) text += drawn("acquire", figures.acquire.latency);
  if (figures.release.latency.count() > 0) text += drawn("release", figures.release.latency);
  return text + node_lines(figures.nodes) + ending(figures);
}

std::string bench_json(const BenchFigures& figures) {
  JsonArray nodes;
  for (const NodeFigures& node : figures.nodes) nodes.add(json_of(node));
  const JsonObject all = {{"seconds", microseconds(figures.passed) / 1e6},
                          {"in_flight", figures.in_flight},
                          {"ttl_ms", ceil_ms(figures.ttl)},
                          {"fence", figures.fence},
                          {"pairs", figures.pair.count()},
                          {"pairs_per_second", figures.pairs_per_second()},
                          {"cpu_us_per_pair", cpu_us_per_pair(figures)},
                          {"second_rounds", figures.second_rounds},
                          {"acquire", json_of(figures.acquire)},
                          {"release", json_of(figures.release)},
                          {"pair", json_of(figures.pair)},
                          {"nodes", nodes}};
  return all.text();
}

}  // namespace redlock::coordinator
