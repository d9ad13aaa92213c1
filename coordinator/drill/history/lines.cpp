#include "coordinator/drill/history/lines.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>

namespace redlock::drill {
namespace {

using Ranges = std::vector<TimeRange>;  // by time and disjoint, once joined

Ranges joined(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.from < b.from; });
  Ranges result;
  for (const TimeRange& range : ranges) {
    if (range.is_empty()) continue;
    if (result.empty() || result.back().to < range.from) {
      result.push_back(range);
    } else {
      result.back().to = std::max(result.back().to, range.to);
    }
  }
  return result;
}

bool meet(const Ranges& ranges, TimeRange time) {
  const auto next = std::partition_point(
      ranges.begin(), ranges.end(), [&](const TimeRange& range) { return range.to <= time.from; });
  return next != ranges.end() && next->from <= time.to;
}

// Of those that `least` or more of the nodes share.
Ranges shared(const std::vector<Ranges>& by_node, std::size_t least) {
  std::vector<std::pair<Instant, int>> steps;
  for (const Ranges& ranges : by_node) {
    for (const TimeRange& range : ranges) {
      steps.emplace_back(range.from, 1);
      steps.emplace_back(range.to, -1);
    }
  }
  std::sort(steps.begin(), steps.end());
  Ranges result;
  std::size_t count = 0;
  for (const auto& [at, by] : steps) {
    const bool was_shared = count >= least;
    count = by > 0 ? count + 1 : count - 1;
    if (count >= least && !was_shared) result.push_back({at, at});
    if (was_shared) result.back().to = at;
  }
  return joined(std::move(result));
}

TimeRange with_tail(TimeRange range, Duration tail) {
  return {range.from, later(range.to, tail)};
}

class Lines {
 public:
  Lines(const History& history, const Story& story)
      : history_(history),
        story_(story),
        leftover_(longest_ttl(history)),
        attempt_of_(story.holds.size()),
        holds_of_(story.locks.size()),
        unfit_(story.clients),
        taken_(story.locks.size()) {
    for (std::size_t i = 0; i < story.attempts.size(); ++i) {
      if (story.attempts[i].hold) attempt_of_[*story.attempts[i].hold] = i;
    }
    for (std::size_t i = 0; i < story.holds.size(); ++i) {
      holds_of_[story.holds[i].lock].push_back(i);
    }
  }

  std::vector<Wait> waits() {
    std::vector<Wait> waits;
    for (std::size_t i = 0; i < story_.attempts.size(); ++i) {
      if (story_.attempts[i].waits) waits.push_back(wait(i));
    }
    return waits;
  }

 private:
  // When a client could not be served, whoever's turn it was.
  struct Unfit {
    Ranges now;        // and for kBackInLine after it
    Ranges leftovers;  // the same, and for a TTL after a node was unsound
  };

  Wait wait(std::size_t number);
  TimeRange longest_idle(const Attempt& attempt, TimeRange time);
  const Unfit& unfit(std::size_t client);
  Ranges unfit_with(std::size_t client, Duration node_tail) const;
  bool meets(const Spell& spell, std::size_t client) const;
  const Ranges& taken(std::size_t lock);

  Instant told_at(std::size_t event) const { return history_.events[event].at; }
  // Since when whoever made this attempt wanted the lock, as far as its place in the line goes.
  Instant came(const Attempt& attempt) const {
    return attempt.waits ? told_at(*attempt.waits) : attempt.time.from;
  }

  const History& history_;
  const Story& story_;
  const Duration leftover_;
  std::vector<std::size_t> attempt_of_;             // by hold
  std::vector<std::vector<std::size_t>> holds_of_;  // by lock
  std::vector<std::optional<Unfit>> unfit_;         // by client
  std::vector<std::optional<Ranges>> taken_;        // by lock
};

Wait Lines::wait(std::size_t number) {
  const Attempt& attempt = story_.attempts[number];
  const TimeRange time{came(attempt), attempt.time.to};
  Wait wait{.attempt = number, .later = {}, .idle = longest_idle(attempt, time)};
  const auto& holds = holds_of_[attempt.lock];
  const auto acquired = [this](std::size_t hold) { return told_at(story_.holds[hold].acquired); };
  auto hold = std::partition_point(holds.begin(), holds.end(),
                                   [&](std::size_t one) { return acquired(one) <= time.from; });
  for (; hold != holds.end() && acquired(*hold) < time.to; ++hold) {
    const Attempt& other = story_.attempts[attempt_of_[*hold]];
    if (came(other) <= time.from) continue;
    const Instant at = acquired(*hold);
    if (!meet(unfit(attempt.client).now, {at, at})) wait.later.push_back(*hold);
  }
  return wait;
}

TimeRange Lines::longest_idle(const Attempt& attempt, TimeRange time) {
  TimeRange longest{time.from, time.from};
  Instant since = time.from;
  const auto next_of = [&since](const Ranges& ranges) {
    const auto next = std::partition_point(ranges.begin(), ranges.end(),
                                           [&](const TimeRange& one) { return one.to <= since; });
    return next == ranges.end() ? TimeRange{kNever, kNever} : *next;
  };
  while (since < time.to) {
    const TimeRange a = next_of(unfit(attempt.client).leftovers);
    const TimeRange b = next_of(taken(attempt.lock));
    const TimeRange next = a.from < b.from ? a : b;
    const TimeRange idle{since, std::min(next.from, time.to)};
    if (idle.length() > longest.length()) longest = idle;
    since = next.to;
  }
  return longest;
}

const Lines::Unfit& Lines::unfit(std::size_t client) {
  auto& known = unfit_[client];
  if (!known) {
    known = {unfit_with(client, kBackInLine), unfit_with(client, leftover_ + kBackInLine)};
  }
  return *known;
}

Ranges Lines::unfit_with(std::size_t client, Duration node_tail) const {
  const std::size_t nodes = story_.parties.size() - story_.clients;
  std::vector<Ranges> unsound(nodes);
  Ranges unfit;
  for (const Spell& spell : story_.spells) {
    if (!meets(spell, client)) continue;
    if (story_.is_node(spell.party)) {
      unsound[spell.party - story_.clients].push_back(with_tail(spell.time, node_tail));
    } else {
      unfit.push_back(with_tail(spell.time, kBackInLine));
    }
  }
  if (nodes > 0) {
    for (Ranges& ranges : unsound) ranges = joined(std::move(ranges));
    const Ranges many = shared(unsound, nodes - coordinator::quorum_of(nodes) + 1);
    unfit.insert(unfit.end(), many.begin(), many.end());
  }
  return joined(std::move(unfit));
}

// Whether the client cannot speak with a node meanwhile, or does not run.
bool Lines::meets(const Spell& spell, std::size_t client) const {
  if (!story_.is_node(spell.party)) return spell.party == client;
  if (spell.what == What::slowed) return false;
  const auto& from = history_.events[spell.begin].from;
  return spell.what != What::cut || from.empty() ||
         std::find(from.begin(), from.end(), story_.parties[client]) != from.end();
}

// When the lock was somebody's, or nodes may have had it for somebody who could not tell them more.
const Ranges& Lines::taken(std::size_t lock) {
  auto& known = taken_[lock];
  if (known) return *known;
  Ranges taken;
  for (const Attempt& attempt : story_.attempts) {
    if (attempt.lock != lock) continue;
    TimeRange time = attempt.time;
    bool is_whole = attempt.answer.has_value();
    if (attempt.hold) {
      const Hold& hold = story_.holds[*attempt.hold];
      taken.insert(taken.end(), hold.believed.begin(), hold.believed.end());
      is_whole = hold.releases.has_value();
      time.to = is_whole ? told_at(*hold.releases) : hold.valid_until;
    }
    const bool is_interrupted = !is_whole || meet(unfit(attempt.client).now, time);
    if (is_interrupted) taken.push_back(with_tail(time, leftover_));
  }
  known = joined(std::move(taken));
  return *known;
}

}  // namespace

std::vector<Wait> waits_of(const History& history, const Story& story) {
  return Lines(history, story).waits();
}

Waits sum_of(const std::vector<Wait>& waits, const Story& story) {
  Waits sum{.count = waits.size()};
  for (const Wait& wait : waits) {
    const Attempt& attempt = story.attempts[wait.attempt];
    if (attempt.hold) {
      ++sum.served;
      sum.longest = std::max(sum.longest, attempt.time.length());
    }
    sum.overtaken = std::max(sum.overtaken, wait.later.size());
    sum.longest_idle = std::max(sum.longest_idle, wait.idle.length());
  }
  return sum;
}

}  // namespace redlock::drill
