// What `redlock bench` tells: for people, and as JSON.
#include "base/text/duration_text.h"
#include "base/text/json.h"
#include "coordinator/bench/bench_figures.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr std::size_t kBarWidth = 40;
// The slowest thousandth may be spread over several powers of ten.
constexpr double kShareNotDrawn = 0.001;
constexpr double kShares[] = {0.5, 0.9, 0.99, 0.999};

double us(Duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

std::string short_time(Duration d) {
  if (d < 10us) return fmt::format("{:.1f} us", us(d));
  if (d < 1ms) return fmt::format("{:.0f} us", us(d));
  if (d < 1s) return fmt::format("{:.2f} ms", us(d) / 1e3);
  return fmt::format("{:.2f} s", us(d) / 1e6);
}

// A share of latencies, "-" of none.
std::string short_time(const LatencyHistogram& latency, double share) {
  return latency.count() == 0 ? "-" : short_time(latency.at(share));
}

// "412,345".
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

double cpu_us_per_pair(const BenchFigures& figures) {
  const std::uint64_t pairs = figures.pair.count();
  return pairs == 0 ? 0 : us(figures.cpu) / static_cast<double>(pairs);
}

std::string latency_line(std::string_view name, const LatencyHistogram& latency) {
  std::string line = fmt::format("{:<8}{:>12}", name, grouped(latency.count()));
  for (const double share : kShares) line += fmt::format("{:>10}", short_time(latency, share));
  return line + fmt::format("{:>10}\n", short_time(latency, 1));
}

std::string bar_line(std::string_view words, double share, double largest) {
  const std::string bar(static_cast<std::size_t>(share / largest * kBarWidth), '#');
  return fmt::format("  {:<16} {:<{}}{:>7.2f} %\n", words, bar, kBarWidth, share * 100);
}

// A line for each bar until nearly all are told, and one for the few that are left.
std::string drawn(std::string_view name, const LatencyHistogram& latency) {
  std::string text = fmt::format("\n{}\n", name);
  const auto bars = latency.bars();
  const auto share_of = [&latency](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(latency.count());
  };
  std::uint64_t most = 1;
  for (const auto& bar : bars) most = std::max(most, bar.count);
  std::uint64_t left = latency.count();
  for (const auto& bar : bars) {
    if (share_of(left) <= kShareNotDrawn) break;
    left -= bar.count;
    text += bar_line(fmt::format("up to {}", short_time(bar.up_to)), share_of(bar.count),
                     share_of(most));
  }
  if (left == 0) return text;
  return text + bar_line(fmt::format("up to {}", short_time(latency.max())), share_of(left),
                         share_of(most));
}

std::string counted(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), name);
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
    bars.add(JsonObject{{"up_to_us", us(bar.up_to)}, {"count", bar.count}});
  }
  return {{"count", latency.count()},
          {"p50_us", us(latency.at(0.5))},
          {"p90_us", us(latency.at(0.9))},
          {"p99_us", us(latency.at(0.99))},
          {"p999_us", us(latency.at(0.999))},
          {"max_us", us(latency.max())},
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

std::string headline(const BenchFigures& figures) {
  std::string text = fmt::format(
      "{} nodes, {} locks in flight, TTL {}, {}\n"
      "{} locks a second for {:.1f} s, acquired and released",
      figures.nodes.size(), figures.in_flight, duration_text(figures.ttl),
      figures.fence ? "with fencing tokens" : "no fencing tokens",
      grouped(static_cast<std::uint64_t>(figures.pairs_per_second())), us(figures.passed) / 1e6);
  if (figures.pair.count() > 0) {
    text += fmt::format("; {:.1f} us of this process's CPU each", cpu_us_per_pair(figures));
  }
  text += '\n';
  if (figures.fence && figures.acquire.latency.count() > 0) {
    text += fmt::format("{:.2f} % of the acquisitions took a second round trip for the token\n",
                        100.0 * static_cast<double>(figures.second_rounds) /
                            static_cast<double>(figures.acquire.latency.count()));
  }
  return text;
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
  std::string text = headline(figures);
  if (figures.acquire.latency.count() > 0) {
    text += fmt::format("\n{:<8}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "", "count", "p50", "p90",
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
  return text + node_lines(figures.nodes);
}

std::string bench_json(const BenchFigures& figures) {
  JsonArray nodes;
  for (const NodeFigures& node : figures.nodes) nodes.add(json_of(node));
  const JsonObject all = {{"seconds", us(figures.passed) / 1e6},
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
