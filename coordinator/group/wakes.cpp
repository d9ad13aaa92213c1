#include "coordinator/group/wakes.h"

#include "base/invariant.h"

#include <algorithm>

namespace redlock::coordinator {

using protocol::Reply;

Wakes::Wakes(std::size_t nodes, Duration node_timeout)
    : nodes_(nodes), node_timeout_(node_timeout) {}

// --- operations

Wakes::Place Wakes::wait(const std::string& name, Place place, OperationId operation, Instant until,
                         Instant now) {
  Line& line = line_of(name);
  if (place == 0) place = ++last_place_;
  const auto [found, is_new] = line.waiters.try_emplace(place);
  Waiter& waiter = found->second;
  if (!is_new) line.untils.erase(line.untils.find(waiter.until));
  waiter.operation = operation;
  waiter.until = until;
  line.untils.insert(until);
  end_attempt(line, waiter);
  arm_idle(line, now);
  look(line);
  return place;
}

void Wakes::attempt(const std::string& name, Place place) {
  Line& line = line_of(name);
  Waiter& waiter = line.waiters.at(place);
  INVARIANT(!waiter.is_attempting, "an operation in two attempts at once");
  waiter.is_attempting = true;
  ++line.attempting;
  look(line);
}

void Wakes::leave(const std::string& name, Place place, Instant now) {
  Line& line = line_of(name);
  const auto left = line.waiters.find(place);
  INVARIANT(left != line.waiters.end(), "an operation leaves a line in which it does not stand");
  end_attempt(line, left->second);
  line.untils.erase(line.untils.find(left->second.until));
  line.waiters.erase(left);
  if (line.waiters.empty()) {
    cancel_armed(line);
    by_number_.erase(line.number);
    lines_.erase(name);
    return;
  }
  arm_idle(line, now);
  look(line);
}

bool Wakes::is_turn(const std::string& name, Place place) const {
  const Line* line = find(name);
  return line != nullptr && line->turn == place;
}

bool Wakes::is_covered(const std::string& name) const {
  const Line* line = find(name);
  return line != nullptr && line->covered;
}

Wakes::Line& Wakes::line_of(const std::string& name) {
  const auto [found, is_new] = lines_.try_emplace(name);
  Line& line = found->second;
  if (is_new) {
    line.claim = std::make_shared<const Claim>(Claim{name, {}});
    line.number = WaitNumber(++lines_made_);
    line.marks.resize(nodes_);
    by_number_[line.number] = &line;
  }
  return line;
}

const Wakes::Line* Wakes::find(const std::string& name) const {
  const auto found = lines_.find(name);
  return found == lines_.end() ? nullptr : &found->second;
}

// What the nodes told of the time before it is no longer true, or was what it tried for.
void Wakes::end_attempt(Line& line, Waiter& waiter) {
  if (!waiter.is_attempting) return;
  waiter.is_attempting = false;
  --line.attempting;
  for (Mark& mark : line.marks) {
    if (mark.state == Mark::State::free) mark.state = Mark::State::idle;
  }
}

// --- nodes

void Wakes::on_link(NodeIndex node, bool can_push, Instant now) {
  if (can_push_.test(node) == can_push) return;
  can_push_.set(node, can_push);
  for (auto& [name, line] : lines_) {
    line.marks[node] = {};
    arm_idle(line, now);
    look(line);
  }
}

void Wakes::on_answer(NodeIndex node, WaitNumber number, const Answer& answer, Instant now) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  Line& line = *found->second;
  Mark& mark = line.marks[node];
  // It may be late; and the push of a key that is free already may have been handed in before it.
  if (mark.state != Mark::State::asked && mark.state != Mark::State::refused) return;
  if (answer.kind == AnswerKind::yes) {
    mark.doubtful = false;
    set(line, node, Mark::State::armed, mark.told_by);
  } else {
    mark.doubtful = true;
    set(line, node, Mark::State::refused, later(now, kRearmDelay));
  }
  look(line);
}

void Wakes::on_push(NodeIndex node, const Reply& push, Instant now) {
  const auto& items = push.items();
  if (!can_push_.test(node)) return;  // what a connection said that is over by now
  if (items.size() != 3 || items[0].text() != "lock.free") return;
  const auto found = lines_.find(std::string(items[1].text()));
  if (found == lines_.end()) return;
  Line& line = found->second;
  const bool is_free = items[2].integer() != 0;
  set(line, node, is_free ? Mark::State::free : Mark::State::idle, kNever);
  arm_idle(line, now);
  look(line);
}

void Wakes::on_time(Instant now) {
  while (!deadlines_.empty() && deadlines_.top().when <= now) {
    const Deadline due = deadlines_.top();
    deadlines_.pop();
    const auto found = by_number_.find(due.number);
    if (found == by_number_.end() || found->second->check_at != due.when) continue;
    Line& line = *found->second;
    line.check_at = kNever;
    for (NodeIndex node = 0; node < nodes_; ++node) time_out(line, node, now);
    arm_idle(line, now);
    look(line);
  }
}

void Wakes::time_out(Line& line, NodeIndex node, Instant now) {
  Mark& mark = line.marks[node];
  if (mark.until > now) return check(line, mark.until);
  if (mark.state == Mark::State::asked) {
    mark.doubtful = true;
    set(line, node, Mark::State::refused, later(now, kRearmDelay));
  } else {
    set(line, node, Mark::State::idle, kNever);
  }
}

std::optional<Instant> Wakes::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.top().when;
}

void Wakes::set(Line& line, NodeIndex node, Mark::State state, Instant until) {
  line.marks[node].state = state;
  line.marks[node].until = until;
  check(line, until);
}

void Wakes::check(Line& line, Instant when) {
  if (when >= line.check_at) return;
  line.check_at = when;
  deadlines_.push({when, line.number});
}

// Never for longer than the most patient of the line still waits.
void Wakes::arm_idle(Line& line, Instant now) {
  const Duration timeout = std::min(kWakeMax, *line.untils.rbegin() - now);
  if (timeout <= 0ns) return;
  for (NodeIndex node = 0; node < nodes_; ++node) {
    Mark& mark = line.marks[node];
    if (mark.state != Mark::State::idle || !can_push_.test(node)) continue;
    mark.told_by = later(now, timeout + node_timeout_);
    set(line, node, Mark::State::asked, later(now, node_timeout_));
    orders_.push_back({node, line.number, line.claim, timeout});
  }
}

void Wakes::cancel_armed(Line& line) {
  for (NodeIndex node = 0; node < nodes_; ++node) {
    const Mark::State state = line.marks[node].state;
    const bool may_be_armed =
        state == Mark::State::asked || state == Mark::State::armed || state == Mark::State::refused;
    if (may_be_armed && can_push_.test(node)) {
      orders_.push_back({node, WaitNumber::none, line.claim, 0ns});
    }
  }
}

// --- who is told

void Wakes::look(Line& line) {
  const bool covered = computes_covered(line);
  if (covered != line.covered) {
    line.covered = covered;
    for (const auto& [place, waiter] : line.waiters) {
      ++waiters_seen_;
      if (!waiter.is_attempting) stirred_.push_back(waiter.operation);
    }
  }
  const bool may_try = line.attempting == 0 && count(line, Mark::State::free) >= quorum_of(nodes_);
  const Place turn = may_try ? line.waiters.begin()->first : 0;
  if (turn == line.turn) return;
  line.turn = turn;
  if (turn != 0) stirred_.push_back(line.waiters.at(turn).operation);
}

bool Wakes::computes_covered(const Line& line) const {
  if (line.attempting > 0) return true;
  const std::size_t free = count(line, Mark::State::free);
  const auto holds = static_cast<std::size_t>(
      std::count_if(line.marks.begin(), line.marks.end(), [](const Mark& mark) {
        const bool is_asked = mark.state == Mark::State::asked && !mark.doubtful;
        return is_asked || mark.state == Mark::State::armed;
      }));
  return free >= quorum_of(nodes_) || holds > nodes_ - quorum_of(nodes_);
}

std::size_t Wakes::count(const Line& line, Mark::State state) {
  return static_cast<std::size_t>(
      std::count_if(line.marks.begin(), line.marks.end(),
                    [state](const Mark& mark) { return mark.state == state; }));
}

}  // namespace redlock::coordinator
