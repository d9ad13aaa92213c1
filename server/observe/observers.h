// Observers: who looks at commands while they are executed: MONITOR, SLOWLOG, LATENCY.
//
//   if (observers.look_at(spec, words)) …  // one branch, false for SET and GET
//
// Always timed are the commands whose time grows with their input: those marked kTimed, and any
// with more than kWordsUntimed words. No other takes a millisecond, so that nothing is missed; only
// for a slowlog-log-slower-than below kTimesAllBelow all are timed. Monitors see every command.
//
// Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/request.h"
#include "server/observe/latency.h"
#include "server/observe/monitors.h"
#include "server/observe/slow_log.h"
#include "server/observe/stopwatch.h"
#include "server/settings/settings.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

inline constexpr std::size_t kWordsUntimed = 64;
inline constexpr Duration kTimesAllBelow = 1ms;

class Observers {
 public:
  explicit Observers(Stopwatch stopwatch) : stopwatch_(std::move(stopwatch)) {}
  Observers(const Observers&) = delete;
  Observers& operator=(const Observers&) = delete;

  void apply(const Settings& settings);

  static bool is_timed_always(const protocol::CommandSpec& spec, protocol::Request words) {
    return spec.has(protocol::kTimed) || words.size() > kWordsUntimed;
  }
  bool look_at(const protocol::CommandSpec& spec, protocol::Request words) const {
    return look_at_all_ || is_timed_always(spec, words);
  }

  // Every command, also within scripts: there is a monitor, or what is slow is very short.
  bool looks_at_all() const { return look_at_all_; }

  // A command as they tell of it. It owns nothing; keep() does.
  struct Subject {
    const protocol::CommandSpec& spec;
    protocol::Request words;
    std::string_view address;
    std::string_view client;
  };
  bool has_stopwatch() const { return stopwatch_ != nullptr; }
  // When the nth command begins, and ends, that the node executes at its instant `now`. A script is
  // so short that readings of a clock show: when one follows the other at once, the end of one is
  // the beginning of the next.
  Instant read_beginning(Instant now, std::uint64_t nth) const {
    const bool follows = now == last_.now && nth == last_.nth + 1;
    return follows ? last_.end : stopwatch_();
  }
  Instant read_end(Instant now, std::uint64_t nth) {
    last_ = {now, nth, stopwatch_()};
    return last_.end;
  }
  // calls: for so many it stands, of which the others were not timed.
  void note_time(const Subject& subject, WallTime when, Duration took, unsigned calls = 1);

  // One that goes on later (a script that was suspended): what will be needed of it then.
  struct Kept {
    const protocol::CommandSpec* spec;
    SlowLog::Entry entry;
    Instant began;
  };
  static Kept keep(const Subject& subject, WallTime when, Instant began);
  void note_time(Kept kept);

  void join(protocol::Session& monitor);
  void leave(protocol::Session& monitor);
  const Monitors& monitors() const { return monitors_; }

  SlowLog& slow_log() { return slow_log_; }
  LatencyEvents& latency_events() { return events_; }
  std::int64_t latency_threshold_ms() const { return latency_threshold_ms_; }
  // By the names of commands.
  const std::map<std::string_view, CallHistogram>& histograms() const { return histograms_; }
  void forget_histograms();

 private:
  bool is_slow(const protocol::CommandSpec& spec, Duration took) const;
  void note_latency(const protocol::CommandSpec& spec, WallTime when, Duration took,
                    unsigned calls = 1);
  void decide_what_to_look_at();
  CallHistogram& histogram_of(const protocol::CommandSpec& spec);

  struct Reading {
    Instant now;
    std::uint64_t nth = std::numeric_limits<std::uint64_t>::max();  // none was read yet
    Instant end;
  };

  Stopwatch stopwatch_;
  Reading last_;
  Monitors monitors_;
  SlowLog slow_log_;
  LatencyEvents events_;
  std::map<std::string_view, CallHistogram> histograms_;
  const protocol::CommandSpec* last_timed_ = nullptr;
  CallHistogram* last_histogram_ = nullptr;  // its
  std::int64_t slower_than_us_ = 0;
  std::int64_t latency_threshold_ms_ = 0;
  bool keeps_histograms_ = true;
  bool look_at_all_ = false;
};

}  // namespace redlock::server
