// What LATENCY tells: when something took long (LatencyEvents), and how long each command takes
// (CallHistogram).
//
// Thread safety: none.
#pragma once

#include "base/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::server {

// Samples by the name of an event: the longest of each second in which it took at least
// latency-monitor-threshold.
class LatencyEvents {
 public:
  static constexpr std::size_t kSamplesMax = 160;  // of an event; as Redis

  struct Sample {
    std::int64_t second;  // since 1970
    std::int64_t ms;
  };
  struct Event {
    std::deque<Sample> samples;  // the oldest first
    std::int64_t longest_ms = 0;
  };

  void add(std::string_view event, WallTime when, std::int64_t ms);
  // nullptr: nothing is known of it.
  const Event* find(std::string_view event) const;
  const std::map<std::string, Event, std::less<>>& all() const { return events_; }
  // Whether there was one.
  bool forget(std::string_view event);

  // The samples as a picture in letters: a column for each, and under it how long ago it was.
  static std::string picture(std::string_view name, const Event& event, WallTime now);
  // What the samples say, for people.
  std::string report(std::int64_t threshold_ms) const;

 private:
  std::map<std::string, Event, std::less<>> events_;
};

// How many calls took at most how long: buckets whose bounds double, those of Redis's.
class CallHistogram {
 public:
  // So many calls took so long each.
  void add(Duration took, unsigned calls = 1);
  std::uint64_t calls() const { return calls_; }
  Duration total() const { return total_; }
  // Bound in microseconds and the calls up to it, for buckets in which there is one.
  std::vector<std::pair<std::int64_t, std::uint64_t>> cumulated() const;

 private:
  static constexpr std::size_t kBuckets = 32;  // up to an hour

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t calls_ = 0;
  Duration total_{};
};

}  // namespace redlock::server
