#include "server/observe/observers.h"

#include <chrono>
#include <utility>

namespace redlock::server {

void Observers::apply(const Settings& settings) {
  slower_than_us_ = settings.slowlog_log_slower_than;
  latency_threshold_ms_ = settings.latency_monitor_threshold;
  keeps_histograms_ = settings.latency_tracking;
  slow_log_.set_length_max(settings.slowlog_max_len);
  monitors_.set_output_bytes_max(settings.output_limit.hard);
  decide_what_to_look_at();
}

void Observers::join(protocol::Session& monitor) {
  monitors_.join(monitor);
  decide_what_to_look_at();
}

void Observers::leave(protocol::Session& monitor) {
  monitors_.leave(monitor);
  decide_what_to_look_at();
}

void Observers::decide_what_to_look_at() {
  const bool times_all = slower_than_us_ >= 0 && slower_than_us_ < kTimesAllBelow / 1us;
  look_at_all_ = times_all || !monitors_.is_empty();
}

bool Observers::is_slow(const protocol::CommandSpec& spec, Duration took) const {
  return slower_than_us_ >= 0 && took / 1us >= slower_than_us_ && !spec.has(protocol::kSkipSlowlog);
}

void Observers::note_latency(const protocol::CommandSpec& spec, WallTime when, Duration took,
                             unsigned calls) {
  const std::int64_t ms = took / 1ms;
  if (latency_threshold_ms_ > 0 && ms >= latency_threshold_ms_) {
    events_.add(spec.has(protocol::kFast) ? "fast-command" : "command", when, ms);
  }
  if (keeps_histograms_) histogram_of(spec).add(took, calls);
}

// Most often the same script is called by the same command as just before.
CallHistogram& Observers::histogram_of(const protocol::CommandSpec& spec) {
  if (last_timed_ != &spec) {
    last_timed_ = &spec;
    last_histogram_ = &histograms_[spec.name];
  }
  return *last_histogram_;
}

void Observers::forget_histograms() {
  histograms_.clear();
  last_timed_ = nullptr;
}

void Observers::note_time(const Subject& subject, WallTime when, Duration took, unsigned calls) {
  note_latency(subject.spec, when, took, calls);
  if (!is_slow(subject.spec, took)) return;
  slow_log_.add({.when = when,
                 .took = took,
                 .words = SlowLog::shortened(subject.spec, subject.words),
                 .address = std::string(subject.address),
                 .client = std::string(subject.client)});
}

Observers::Kept Observers::keep(const Subject& subject, WallTime when, Instant began) {
  SlowLog::Entry entry;
  entry.when = when;
  entry.words = SlowLog::shortened(subject.spec, subject.words);
  entry.address = subject.address;
  entry.client = subject.client;
  return {&subject.spec, std::move(entry), began};
}

void Observers::note_time(Kept kept) {
  kept.entry.took = stopwatch_() - kept.began;
  note_latency(*kept.spec, kept.entry.when, kept.entry.took);
  if (is_slow(*kept.spec, kept.entry.took)) slow_log_.add(std::move(kept.entry));
}

}  // namespace redlock::server
