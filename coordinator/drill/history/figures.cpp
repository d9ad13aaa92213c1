#include "coordinator/drill/history/figures.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// A step of a sum that changes at an instant.
struct Step {
  Instant at;
  int wanted;
  int held;
};

// What is left of a range without the breaks of its client.
template <class Take>
void for_each_part(TimeRange range, const std::vector<const Spell*>& breaks, Take take) {
  auto next = std::partition_point(breaks.begin(), breaks.end(), [&](const Spell* spell) {
    return spell->time.to <= range.from;
  });
  for (; next != breaks.end() && (*next)->time.from < range.to; ++next) {
    take(TimeRange{range.from, std::min(range.to, (*next)->time.from)});
    range.from = std::max(range.from, (*next)->time.to);
  }
  take(range);
}

// Who was refused and asks again goes on wanting meanwhile, unless it asked for something else.
std::vector<TimeRange> wanted_times(const Story& story) {
  std::vector<TimeRange> wanted;
  std::vector<const Attempt*> last(story.clients, nullptr);
  for (const Attempt& attempt : story.attempts) {
    TimeRange time = attempt.time;
    const Attempt*& before = last[attempt.client];
    if (before != nullptr && before->lock == attempt.lock && before->answer && !before->hold) {
      time.from = std::min(time.from, before->time.to);
    }
    wanted.push_back(time);
    before = &attempt;
  }
  return wanted;
}

std::vector<std::vector<Step>> steps_by_lock(const Story& story, const RunningTimes& running) {
  std::vector<std::vector<Step>> steps(story.locks.size());
  const auto add = [&](std::size_t lock, TimeRange time, int wanted, int held) {
    time.to = std::min(time.to, story.time.to);
    if (time.is_empty()) return;
    steps[lock].push_back({time.from, wanted, held});
    steps[lock].push_back({time.to, -wanted, -held});
  };
  const std::vector<TimeRange> wanted = wanted_times(story);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Attempt& attempt = story.attempts[i];
    for_each_part(wanted[i], running.breaks_of(attempt.client),
                  [&](TimeRange part) { add(attempt.lock, part, 1, 0); });
  }
  for (const Hold& hold : story.holds) {
    for (const TimeRange& time : hold.believed) add(hold.lock, time, 0, 1);
  }
  for (auto& of_lock : steps) {
    std::sort(of_lock.begin(), of_lock.end(),
              [](const Step& a, const Step& b) { return a.at < b.at; });
  }
  return steps;
}

// Tells `take` of each gap, in which the lock was wanted in vain.
template <class Take>
Availability::Sum wanted_time(const std::vector<Step>& steps, Take take) {
  Availability::Sum sum{};
  int wanted = 0;
  int held = 0;
  std::optional<Instant> in_vain_since;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    wanted += steps[i].wanted;
    held += steps[i].held;
    const Instant at = steps[i].at;
    if (i + 1 < steps.size() && steps[i + 1].at == at) continue;  // all of one instant first
    if (i + 1 < steps.size() && (wanted > 0 || held > 0)) sum += steps[i + 1].at - at;
    const bool in_vain = wanted > 0 && held == 0;
    if (in_vain && !in_vain_since) in_vain_since = at;
    if (in_vain || !in_vain_since) continue;
    take(TimeRange{*in_vain_since, at});
    in_vain_since.reset();
  }
  return sum;
}

Latency latency_of(const Story& story, const RunningTimes& running) {
  std::vector<Duration> times;
  for (const Attempt& attempt : story.attempts) {
    if (!attempt.hold || running.break_within(attempt.client, attempt.time) != nullptr) continue;
    times.push_back(attempt.time.length());
  }
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](std::size_t percent) { return times[(times.size() - 1) * percent / 100]; };
  return {times.size(), at(50), at(99), times.back()};
}

Losses losses_of(const History& history, const Story& story, const RunningTimes& running,
                 Duration notice_time) {
  Losses losses;
  for (const Hold& hold : story.holds) {
    const Outcome outcome = outcome_of(history, story, running, hold, notice_time);
    const auto told_at = [&] { return history.events[*hold.lost].at; };
    if (outcome == Outcome::noticed) {
      ++losses.in_time;
      const Duration ahead = hold.valid_until - told_at();
      losses.least_ahead = std::min(losses.least_ahead.value_or(ahead), ahead);
    }
    if (outcome == Outcome::killed) ++losses.by_killed;
    if (outcome != Outcome::paused) continue;
    ++losses.by_paused;
    if (!hold.lost) continue;
    const Spell* pause = running.break_within(
        hold.client, {hold.valid_until - notice_time, later(hold.valid_until, Duration(1))});
    // It may go on, and tell, before it is noted that it does.
    const Duration after =
        std::max<Duration>(told_at() - std::max(pause->time.to, hold.valid_until), 0ns);
    losses.slowest_after_pause = std::max(losses.slowest_after_pause.value_or(after), after);
  }
  return losses;
}

Writes writes_of(const History& history, const Story& story) {
  Writes writes;
  std::vector<std::size_t> newest(story.locks.size());  // each lock's hold
  for (std::size_t i = 0; i < history.events.size(); ++i) {
    const Event& event = history.events[i];
    if (event.what == What::acquired)
      newest[story.holds[*story.hold_of[i]].lock] = *story.hold_of[i];
    if (event.what != What::wrote) continue;
    const std::size_t number = *story.hold_of[i];
    const Hold& hold = story.holds[number];
    ++(event.accepted ? writes.accepted : writes.refused);
    if (!is_late(history, hold, event.at)) continue;
    ++(event.accepted ? writes.late_accepted : writes.late_refused);
    if (event.accepted && newest[hold.lock] != number) ++writes.late_after_next;
  }
  return writes;
}

// Stops of clients that ran through the end of a validity of theirs.
std::size_t pauses_over_an_end(const Story& story, const RunningTimes& running) {
  std::vector<const Spell*> pauses;
  for (const Hold& hold : story.holds) {
    if (hold.releases || hold.believed.empty()) continue;
    const Spell* pause =
        running.break_within(hold.client, {hold.valid_until, later(hold.valid_until, Duration(1))});
    if (pause != nullptr && pause->what == What::stopped) pauses.push_back(pause);
  }
  std::sort(pauses.begin(), pauses.end());
  return static_cast<std::size_t>(std::unique(pauses.begin(), pauses.end()) - pauses.begin());
}

void count_event(const Event& event, Summary& summary) {
  switch (event.what) {
    case What::acquired:
      ++summary.acquired;
      if (event.token != 0) ++summary.fenced;
      if (event.ttl_ms == 0) ++summary.without_ttl;
      return;
    case What::refused:
      ++summary.refused[event.why.empty() ? "no reason told" : event.why];
      return;
    case What::extended:
      ++summary.extended;
      return;
    case What::releases:
      ++summary.released;
      return;
    default:
      break;
  }
  if (is_of_a_client(event.what)) return;
  auto& faults = is_node(event.who) ? summary.faults_of_nodes : summary.faults_of_clients;
  ++faults.at(static_cast<std::size_t>(event.what));
}

}  // namespace

RunningTimes::RunningTimes(const Story& story) : breaks_(story.clients), sums_(story.clients) {
  for (const Spell& spell : story.spells) {
    const bool is_break = spell.what == What::stopped || spell.what == What::killed;
    if (!is_break || spell.party >= story.clients) continue;
    auto& breaks = breaks_[spell.party];
    auto& sums = sums_[spell.party];
    sums.push_back(breaks.empty() ? Duration(0) : sums.back() + breaks.back()->time.length());
    breaks.push_back(&spell);
  }
}

Duration RunningTimes::broken_before(std::size_t client, Instant time) const {
  const auto& breaks = breaks_[client];
  const auto after = std::partition_point(
      breaks.begin(), breaks.end(), [&](const Spell* spell) { return spell->time.from < time; });
  if (after == breaks.begin()) return Duration(0);
  const TimeRange& last = (*(after - 1))->time;
  const auto index = static_cast<std::size_t>(after - 1 - breaks.begin());
  return sums_[client][index] + (std::min(last.to, time) - last.from);
}

Duration RunningTimes::running_within(std::size_t client, TimeRange range) const {
  return range.length() - (broken_before(client, range.to) - broken_before(client, range.from));
}

const Spell* RunningTimes::break_within(std::size_t client, TimeRange range) const {
  const auto& breaks = breaks_[client];
  const auto after = std::partition_point(breaks.begin(), breaks.end(), [&](const Spell* spell) {
    return spell->time.from < range.to;
  });
  if (after == breaks.begin() || (*(after - 1))->time.to <= range.from) return nullptr;
  return *(after - 1);
}

Outcome outcome_of(const History& history, const Story& story, const RunningTimes& running,
                   const Hold& hold, Duration notice_time) {
  if (hold.believed.empty()) return Outcome::none;
  const auto in_time = [&](std::optional<std::size_t> told) {
    return told && history.events[*told].at <= hold.valid_until;
  };
  if (in_time(hold.releases)) return Outcome::released;
  if (in_time(hold.lost)) return Outcome::noticed;
  if (hold.valid_until >= story.time.to) return Outcome::none;
  const Instant begin = history.events[hold.acquired].at;
  // A kill is told before it is done: a client may yet have told that it acquired.
  const Spell* around = running.break_within(hold.client, {begin, later(begin, Duration(1))});
  if (around != nullptr && around->what == What::killed) return Outcome::killed;
  const auto& breaks = running.breaks_of(hold.client);
  const auto first = std::partition_point(
      breaks.begin(), breaks.end(), [&](const Spell* spell) { return spell->time.from < begin; });
  for (auto spell = first; spell != breaks.end() && (*spell)->time.from <= hold.valid_until;
       ++spell) {
    if ((*spell)->what == What::killed) return Outcome::killed;
  }
  const TimeRange end{hold.valid_until - notice_time, later(hold.valid_until, Duration(1))};
  return running.break_within(hold.client, end) != nullptr ? Outcome::paused : Outcome::late;
}

double Availability::share() const {
  return wanted.count() > 0 ? 1 - in_vain / wanted : 1;
}

Availability availability_of(const Story& story, const RunningTimes& running) {
  Availability sum;
  const auto steps = steps_by_lock(story, running);
  for (std::size_t lock = 0; lock < steps.size(); ++lock) {
    sum.wanted += wanted_time(steps[lock], [&](TimeRange gap) {
      sum.in_vain += gap.length();
      if (gap.length() <= sum.longest.length()) return;
      sum.longest = gap;
      sum.longest_lock = lock;
    });
  }
  return sum;
}

std::vector<Gap> gaps_of(const Story& story, const RunningTimes& running) {
  std::vector<Gap> gaps;
  const auto steps = steps_by_lock(story, running);
  for (std::size_t lock = 0; lock < steps.size(); ++lock) {
    static_cast<void>(wanted_time(steps[lock], [&](TimeRange time) {
      gaps.push_back({time, lock});
    }));
  }
  return gaps;
}

Summary summarize(const History& history, const Story& story, Duration notice_time) {
  const RunningTimes running(story);
  Summary summary;
  summary.events = history.events.size();
  for (const Event& event : history.events) count_event(event, summary);
  for (const Attempt& attempt : story.attempts) {
    if (!attempt.answer) ++summary.unanswered;
  }
  summary.latency = latency_of(story, running);
  summary.availability = availability_of(story, running);
  summary.losses = losses_of(history, story, running, notice_time);
  summary.writes = writes_of(history, story);
  summary.changes = changes_of(history, story, running);
  summary.pauses_over_an_end = pauses_over_an_end(story, running);
  return summary;
}

Duration longest_ttl(const History& history) {
  std::int64_t longest_ms = 0;
  for (const Event& event : history.events) longest_ms = std::max(longest_ms, event.ttl_ms);
  return std::chrono::milliseconds(longest_ms);
}

std::string precise_duration(Duration d) {
  const auto ns = static_cast<double>(d.count());
  if (d < 1us) return fmt::format("{} ns", d.count());
  // What would be rounded to four digits goes to the next unit: else it is told as 1e+03.
  if (d < 999'500ns) return fmt::format("{:.3g} µs", ns / 1e3);
  if (d < 999'500us) return fmt::format("{:.3g} ms", ns / 1e6);
  if (d < 59'995ms) return fmt::format("{:.4g} s", ns / 1e9);
  const auto seconds = std::chrono::round<std::chrono::seconds>(d);
  const auto rest = (seconds % 1min).count();
  return fmt::format("{} min{}", seconds / 1min, rest == 0 ? "" : fmt::format(" {} s", rest));
}

std::string spoken_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace redlock::drill
