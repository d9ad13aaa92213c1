#include "coordinator/bench/bench_words.h"

#include "base/text/duration_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// The slowest thousandth may be spread over several powers of ten.
constexpr double kShareNotDrawn = 0.001;

}  // namespace

double microseconds(Duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

std::string short_time(Duration d) {
  const double us = microseconds(d);
  if (d < 10us) return fmt::format("{:.1f} us", us);
  if (d < 1ms) return fmt::format("{:.0f} us", us);
  if (d < 1s) return fmt::format("{:.2f} ms", us / 1e3);
  return fmt::format("{:.2f} s", us / 1e6);
}

std::string short_time(const LatencyHistogram& latency, double share) {
  return latency.count() == 0 ? "-" : short_time(latency.at(share));
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string counted(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), name);
  }
  return text;
}

double cpu_us_per_pair(const BenchFigures& figures) {
  const std::uint64_t pairs = figures.pair.count();
  return pairs == 0 ? 0 : microseconds(figures.cpu) / static_cast<double>(pairs);
}

std::string what_was_done(const BenchFigures& figures) {
  return fmt::format("{} nodes, {} locks in flight, TTL {}, {}", figures.nodes.size(),
                     figures.in_flight, duration_text(figures.ttl),
                     figures.fence ? "with fencing tokens" : "no fencing tokens");
}

std::string second_rounds(const BenchFigures& figures) {
  const std::uint64_t acquired = figures.acquire.latency.count();
  if (!figures.fence || acquired == 0) return "";
  return fmt::format(
      "{:.2f} % of the acquisitions took a second round trip for the token",
      100.0 * static_cast<double>(figures.second_rounds) / static_cast<double>(acquired));
}

std::string pace(const BenchFigures& figures) {
  return fmt::format("{} locks a second",
                     grouped(static_cast<std::uint64_t>(figures.pairs_per_second())));
}

std::string pace_details(const BenchFigures& figures) {
  std::string text =
      fmt::format("for {:.1f} s, acquired and released", microseconds(figures.passed) / 1e6);
  if (figures.pair.count() > 0) {
    text += fmt::format("; {:.1f} us of this process's CPU each", cpu_us_per_pair(figures));
  }
  return text;
}

std::vector<ShownBar> shown_bars(const LatencyHistogram& latency) {
  const auto share_of = [&latency](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(latency.count());
  };
  std::vector<ShownBar> shown;
  std::uint64_t left = latency.count();
  for (const auto& bar : latency.bars()) {
    if (share_of(left) <= kShareNotDrawn) break;
    left -= bar.count;
    shown.push_back({fmt::format("up to {}", short_time(bar.up_to)), share_of(bar.count)});
  }
  if (left > 0) {
    shown.push_back({fmt::format("up to {}", short_time(latency.max())), share_of(left), true});
  }
  return shown;
}

double largest_share(const std::vector<ShownBar>& bars) {
  double largest = 1e-9;
  for (const ShownBar& bar : bars) largest = std::max(largest, bar.share);
  return largest;
}

}  // namespace redlock::coordinator
