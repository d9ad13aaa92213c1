// The figures of a group that changed: which changes there were, and what they cost the others.
#include "coordinator/drill/history/figures.h"

#include <algorithm>
#include <map>

namespace redlock::drill {
namespace {

// Past a fault links are made again; a node that was killed besides waits for its locks' end.
constexpr Duration kSettled = 1s;

bool meet_any(TimeRange time, const std::vector<TimeRange>& others) {
  return std::any_of(others.begin(), others.end(), [time](TimeRange other) {
    return time.from < other.to && other.from < time.to;
  });
}

// Counts the changes, and says when they went on.
std::vector<TimeRange> count_changes(const History& history, const Story& story,
                                     GroupChanges& changes) {
  std::vector<TimeRange> times;
  std::map<std::string, Instant> open;  // by who makes it
  for (const Event& event : history.events) {
    if (is_node(event.who)) continue;
    if (event.what == What::started && !event.change.empty()) open.emplace(event.who, event.at);
    const auto began = open.find(event.who);
    if (event.what != What::killed || began == open.end()) continue;
    if (event.change.empty()) {
      if (event.why.empty()) ++changes.kills;
      continue;
    }
    if (event.change == "replaced") ++changes.replaced;
    if (event.change == "added") ++changes.added;
    if (event.change == "removed") ++changes.removed;
    times.push_back({began->second, event.at});
    open.erase(began);
  }
  for (const auto& [who, since] : open) times.push_back({since, story.time.to});
  return times;
}

// What else a lock may be missed for.
class Disturbances {
 public:
  Disturbances(const History& history, const Story& story, const RunningTimes& running)
      : ttl_(longest_ttl(history)), by_lock_(story.locks.size()) {
    for (const Spell& spell : story.spells) {
      const bool is_fault = spell.what != What::recovering;
      const bool is_of_a_change = !history.events[spell.begin].change.empty();
      if (!is_fault || is_of_a_change || !story.is_node(spell.party)) continue;
      of_nodes_.push_back({spell.time.from, later(spell.time.to, ttl_ + kSettled)});
    }
    for (const Attempt& attempt : story.attempts) {
      if (attempt.answer && running.break_within(attempt.client, attempt.time) == nullptr) continue;
      add(attempt.lock, attempt.time);
    }
    for (const Hold& hold : story.holds) {
      const TimeRange time{history.events[hold.acquired].at, hold.valid_until};
      if (running.break_within(hold.client, time) != nullptr) add(hold.lock, time);
    }
  }

  bool meet_nodes(TimeRange time) const { return meet_any(time, of_nodes_); }
  bool meet_gap(const Gap& gap) const {
    return meet_nodes(gap.time) || meet_any(gap.time, by_lock_[gap.lock]);
  }

 private:
  // Of a client that was stopped or killed. What it may have left at the nodes lives for a TTL.
  void add(std::size_t lock, TimeRange time) {
    by_lock_[lock].push_back({time.from, later(time.to, ttl_)});
  }

  const Duration ttl_;
  std::vector<TimeRange> of_nodes_;
  std::vector<std::vector<TimeRange>> by_lock_;
};

TimeRange longer(TimeRange a, TimeRange b) {
  return a.length() < b.length() ? b : a;
}

// How a quorum answers: yes, or that another holds the lock.
bool is_of_quorum(const History& history, const Attempt& attempt) {
  return attempt.hold || history.events[*attempt.answer].why == "held";
}

TimeRange longest_without(const History& history, const Story& story, const RunningTimes& running,
                          const Disturbances& disturbances) {
  struct Client {
    std::optional<Instant> served;  // last
    std::optional<Instant> failing;
  };
  TimeRange longest;
  std::vector<Client> clients(story.clients);
  for (const Attempt& attempt : story.attempts) {
    Client& client = clients[attempt.client];
    if (client.served && running.break_within(attempt.client, {*client.served, attempt.time.to})) {
      client = {};
    }
    if (!attempt.answer) continue;
    const bool is_served = is_of_quorum(history, attempt);
    if (client.served && !is_served && !client.failing) client.failing = attempt.time.from;
    if (client.failing) {
      const TimeRange time{*client.failing, attempt.time.to};
      if (!disturbances.meet_nodes(time)) longest = longer(longest, time);
    }
    if (is_served) client = {attempt.time.to, std::nullopt};
  }
  return longest;
}

}  // namespace

GroupChanges changes_of(const History& history, const Story& story, const RunningTimes& running) {
  GroupChanges changes;
  const std::vector<TimeRange> times = count_changes(history, story, changes);
  if (times.empty()) return changes;
  const Disturbances disturbances(history, story, running);
  for (const TimeRange& time : times) {
    if (!disturbances.meet_nodes(time)) ++changes.undisturbed;
  }
  for (const Gap& gap : gaps_of(story, running)) {
    if (!meet_any(gap.time, times)) continue;
    changes.longest_gap = std::max(changes.longest_gap, gap.time.length());
    if (disturbances.meet_gap(gap)) continue;
    changes.longest_undisturbed = longer(changes.longest_undisturbed, gap.time);
  }
  changes.longest_without = longest_without(history, story, running, disturbances);
  return changes;
}

}  // namespace redlock::drill
