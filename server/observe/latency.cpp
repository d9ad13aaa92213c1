#include "server/observe/latency.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace redlock::server {
namespace {

// Redis's histogram keeps two decimal digits, so the bound of a bucket is the end of the last step
// of 1024 ns × 2^number: a 128th above it.
Duration bound_of(std::size_t number) {
  return Duration((std::int64_t{1024} << number) + (std::int64_t{8} << number) - 1);
}

struct Summary {
  std::int64_t average = 0;
  std::int64_t deviation = 0;  // from the average, in the mean
  double period = 0;           // seconds from one to the next
};

Summary sum_up(const LatencyEvents::Event& event) {
  Summary out;
  const auto count = static_cast<std::int64_t>(event.samples.size());
  for (const auto& sample : event.samples) out.average += sample.ms;
  out.average /= count;
  for (const auto& sample : event.samples) out.deviation += std::abs(sample.ms - out.average);
  out.deviation /= count;
  const auto seconds = event.samples.back().second - event.samples.front().second;
  out.period = static_cast<double>(std::max<std::int64_t>(seconds, 1)) / static_cast<double>(count);
  return out;
}

std::string age_text(std::int64_t seconds) {
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 86'400) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86'400);
}

}  // namespace

void LatencyEvents::add(std::string_view name, WallTime when, std::int64_t ms) {
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
  Event& event = events_[std::string(name)];
  event.longest_ms = std::max(event.longest_ms, ms);
  if (!event.samples.empty() && event.samples.back().second == second) {
    event.samples.back().ms = std::max(event.samples.back().ms, ms);
    return;
  }
  event.samples.push_back({second, ms});
  if (event.samples.size() > kSamplesMax) event.samples.pop_front();
}

const LatencyEvents::Event* LatencyEvents::find(std::string_view event) const {
  const auto found = events_.find(event);
  return found == events_.end() ? nullptr : &found->second;
}

bool LatencyEvents::forget(std::string_view event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return false;
  events_.erase(found);
  return true;
}

std::string LatencyEvents::picture(std::string_view name, const Event& event, WallTime now) {
  constexpr int kRows = 4;
  constexpr std::string_view kTops = "_o#";  // a row's three heights
  constexpr auto kSteps = static_cast<std::int64_t>(kRows * kTops.size());
  const auto [low, high] =
      std::minmax_element(event.samples.begin(), event.samples.end(),
                          [](const Sample& a, const Sample& b) { return a.ms < b.ms; });
  const std::int64_t range = std::max<std::int64_t>(high->ms - low->ms, 1);
  std::string out = fmt::format("{} - high {} ms, low {} ms (all time high {} ms)\n{:-<80}\n", name,
                                high->ms, low->ms, event.longest_ms, "");
  for (int row = kRows - 1; row >= 0; --row) {
    for (const Sample& sample : event.samples) {
      const std::int64_t step = std::min((sample.ms - low->ms) * kSteps / range, kSteps - 1);
      const std::int64_t in_row = step - row * static_cast<std::int64_t>(kTops.size());
      const bool is_through = in_row >= static_cast<std::int64_t>(kTops.size());
      out += in_row < 0 ? ' ' : is_through ? '|' : kTops[static_cast<std::size_t>(in_row)];
    }
    out += '\n';
  }
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  std::vector<std::string> ages;
  std::size_t longest = 0;
  for (const Sample& sample : event.samples) {
    ages.push_back(age_text(std::max<std::int64_t>(second - sample.second, 0)));
    longest = std::max(longest, ages.back().size());
  }
  for (std::size_t line = 0; line < longest; ++line) {
    out += '\n';
    for (const std::string& age : ages) out += line < age.size() ? age[line] : ' ';
  }
  return out + '\n';
}

std::string LatencyEvents::report(std::int64_t threshold_ms) const {
  if (threshold_ms == 0) {
    return "Nothing is watched: CONFIG SET latency-monitor-threshold MILLISECONDS begins to.\n";
  }
  if (events_.empty()) {
    return fmt::format("Nothing that is timed took {} ms or more.\n", threshold_ms);
  }
  std::string out;
  int number = 0;
  for (const auto& [name, event] : events_) {
    const Summary summary = sum_up(event);
    out += fmt::format(
        "{}. {}: {} times too long (on average {} ms, mean deviation {} ms, one in {:.2f} s); the "
        "longest took {} ms.\n",
        ++number, name, event.samples.size(), summary.average, summary.deviation, summary.period,
        event.longest_ms);
  }
  return out +
         "\nSLOWLOG GET tells which commands they were, those above slowlog-log-slower-than. While "
         "one runs no other client is answered: make scripts and transactions shorter, and name "
         "fewer keys in a command.\n";
}

void CallHistogram::add(Duration took, unsigned calls) {
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && took > bound_of(bucket)) ++bucket;
  counts_[bucket] += calls;
  calls_ += calls;
  total_ += took * calls;
}

std::vector<std::pair<std::int64_t, std::uint64_t>> CallHistogram::cumulated() const {
  std::vector<std::pair<std::int64_t, std::uint64_t>> out;
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (counts_[bucket] == 0) continue;
    sum += counts_[bucket];
    out.emplace_back(bound_of(bucket).count() / 1000, sum);
  }
  return out;
}

}  // namespace redlock::server
