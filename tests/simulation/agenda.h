// Agenda: what is to happen, in the order of true time; what is due at the same instant, in the
// order in which it was put down. It is the only thing that moves time.
//
//   agenda.at(agenda.now() + 5ms, [&] { … });
//   while (agenda.step(end)) …
//
// Alarm: a timer of one actor, who changes its mind often. The last wish counts.
#pragma once

#include "tests/simulation/true_time.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace redlock::simulation {

class Agenda {
 public:
  TrueTime now() const { return now_; }
  std::uint64_t steps() const { return steps_; }

  void at(TrueTime when, std::function<void()> what) {
    entries_.push({std::max(when, now_), ++last_, keep(std::move(what))});
  }
  void after(Duration wait, std::function<void()> what) { at(now_ + wait, std::move(what)); }

  // Goes to the next entry and carries it out. False: there is none up to `end`, and it is `end`.
  bool step(TrueTime end) {
    if (entries_.empty() || entries_.top().when > end) {
      now_ = std::max(now_, end);
      return false;
    }
    const Entry entry = entries_.top();
    entries_.pop();
    now_ = entry.when;
    ++steps_;
    const std::function<void()> what = std::move(deeds_[entry.deed]);
    free_.push_back(entry.deed);
    what();
    return true;
  }

 private:
  struct Entry {
    TrueTime when;
    std::uint64_t number;
    std::uint32_t deed;  // its place in deeds_: what a heap moves about should be small

    bool operator<(const Entry& other) const {  // a priority_queue has the largest on top
      return std::pair(when, number) > std::pair(other.when, other.number);
    }
  };

  std::uint32_t keep(std::function<void()> what) {
    if (free_.empty()) {
      deeds_.push_back(std::move(what));
      return static_cast<std::uint32_t>(deeds_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    deeds_[place] = std::move(what);
    return place;
  }

  TrueTime now_{};
  std::uint64_t last_ = 0;
  std::uint64_t steps_ = 0;
  std::priority_queue<Entry> entries_;
  std::vector<std::function<void()>> deeds_;
  std::vector<std::uint32_t> free_;  // places in deeds_
};

class Alarm {
 public:
  // Both outlive what the agenda still holds.
  Alarm(Agenda& agenda, std::function<void()> ring) : agenda_(agenda), ring_(std::move(ring)) {}
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void set(TrueTime when) {
    wanted_ = when;
    if (when < scheduled_) schedule();
  }

 private:
  void schedule() {
    scheduled_ = wanted_;
    agenda_.at(wanted_, [this, due = scheduled_] { look(due); });
  }
  void look(TrueTime due) {
    if (due != scheduled_) return;  // set to an earlier time since
    scheduled_ = kEndOfTime;
    if (wanted_ == kEndOfTime) return;
    if (wanted_ > agenda_.now()) return schedule();
    wanted_ = kEndOfTime;
    ring_();
  }

  Agenda& agenda_;
  std::function<void()> ring_;
  TrueTime wanted_ = kEndOfTime;
  TrueTime scheduled_ = kEndOfTime;
};

}  // namespace redlock::simulation
