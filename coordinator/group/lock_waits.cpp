#include "coordinator/group/lock_waits.h"

#include "base/invariant.h"
#include "coordinator/group/retry.h"

#include <algorithm>

namespace redlock::coordinator {

using protocol::Reply;

LockWaits::LockWaits(std::size_t nodes, Duration node_timeout)
    : nodes_(nodes), node_timeout_(node_timeout) {}

// --- operations

LockWaits::Ticket LockWaits::wait(const std::string& name, Ticket ticket, OperationId operation,
                                  Instant until, Instant now, const FailedAttempt& attempt) {
  Queue& queue = queue_of(name);
  ticket = stand(queue, ticket, operation, until, attempt.shown);
  end_attempt(queue, queue.waiters.at(ticket));
  queue.denied = attempt.denied;
  arm_idle(queue, now);
  look(queue);
  return ticket;
}

LockWaits::Ticket LockWaits::stand_behind(const std::string& name, OperationId operation,
                                          Instant until, std::optional<WaitTicket> shown,
                                          Instant now) {
  INVARIANT(has_waiters(name), "nobody stands in front");
  Queue& queue = queue_of(name);
  const Ticket ticket = stand(queue, 0, operation, until, shown);
  arm_idle(queue, now);
  return ticket;
}

LockWaits::Ticket LockWaits::stand(Queue& queue, Ticket ticket, OperationId operation,
                                   Instant until, std::optional<WaitTicket> shown) {
  if (ticket == 0) ticket = ++last_ticket_;
  const auto [found, is_new] = queue.waiters.try_emplace(ticket);
  Waiter& waiter = found->second;
  if (!is_new) queue.untils.erase(queue.untils.find(waiter.until));
  waiter.operation = operation;
  waiter.until = until;
  waiter.shown = shown;
  queue.untils.insert(until);
  return ticket;
}

void LockWaits::attempt(const std::string& name, Ticket ticket) {
  Queue& queue = queue_of(name);
  Waiter& waiter = queue.waiters.at(ticket);
  INVARIANT(!waiter.is_attempting, "an operation in two attempts at once");
  waiter.is_attempting = true;
  ++queue.attempting;
  look(queue);
}

void LockWaits::leave(const std::string& name, Ticket ticket, Instant now, NodeSet granted) {
  Queue& queue = queue_of(name);
  const auto left = queue.waiters.find(ticket);
  INVARIANT(left != queue.waiters.end(), "an operation leaves a queue in which it does not stand");
  end_attempt(queue, left->second);
  queue.untils.erase(queue.untils.find(left->second.until));
  queue.waiters.erase(left);
  if (granted.any()) queue.denied = granted;
  if (queue.waiters.empty()) {
    cancel_armed(queue, granted.any());
    by_number_.erase(queue.number);
    queues_.erase(name);
    return;
  }
  arm_idle(queue, now);
  look(queue);
}

bool LockWaits::is_turn(const std::string& name, Ticket ticket) const {
  const Queue* queue = find(name);
  return queue != nullptr && queue->turn == ticket;
}

bool LockWaits::is_covered(const std::string& name) const {
  const Queue* queue = find(name);
  return queue != nullptr && queue->covered;
}

LockWaits::Queue& LockWaits::queue_of(const std::string& name) {
  const auto [found, is_new] = queues_.try_emplace(name);
  Queue& queue = found->second;
  if (is_new) {
    queue.claim = std::make_shared<const Claim>(Claim{name, {}});
    queue.number = WaitNumber(++queues_made_);
    queue.node_waits.resize(nodes_);
    by_number_[queue.number] = &queue;
  }
  return queue;
}

const LockWaits::Queue* LockWaits::find(const std::string& name) const {
  const auto found = queues_.find(name);
  return found == queues_.end() ? nullptr : &found->second;
}

// What the nodes told of the time before it is no longer true, or was what it tried for.
void LockWaits::end_attempt(Queue& queue, Waiter& waiter) {
  if (!waiter.is_attempting) return;
  waiter.is_attempting = false;
  --queue.attempting;
  for (NodeWait& node_wait : queue.node_waits) {
    if (node_wait.state == NodeWait::State::free) node_wait.state = NodeWait::State::idle;
  }
}

// --- nodes

void LockWaits::on_link(NodeIndex node, bool can_push, Instant now) {
  if (can_push_.test(node) == can_push) return;
  can_push_.set(node, can_push);
  without_tickets_.reset(node);
  for (auto& [name, queue] : queues_) {
    queue.node_waits[node] = {};
    queue.denied.reset(node);
    arm_idle(queue, now);
    look(queue);
  }
}

void LockWaits::change_nodes(std::size_t nodes) {
  nodes_ = nodes;
  can_push_.reset();
  without_tickets_.reset();
  for (auto& [name, queue] : queues_) {
    queue.node_waits.assign(nodes_, {});
    queue.denied.reset();
    look(queue);
  }
}

void LockWaits::on_answer(NodeIndex node, WaitNumber number, const Answer& answer, Instant now) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  Queue& queue = *found->second;
  if (node >= nodes_) return;  // a node that was there when it was asked
  NodeWait& node_wait = queue.node_waits[node];
  // It may be late; and the push of a key that is free already may have been handed in before it.
  if (node_wait.state != NodeWait::State::asked && node_wait.state != NodeWait::State::refused)
    return;
  if (answer.kind == AnswerKind::yes) {
    node_wait.doubtful = false;
    set(queue, node, NodeWait::State::armed, node_wait.told_by);
  } else if (node_wait.in_line && answer.is_unknown_form) {
    without_tickets_.set(node);
    set(queue, node, NodeWait::State::idle, kNever);
    arm_idle(queue, now);
  } else {
    node_wait.doubtful = true;
    set(queue, node, NodeWait::State::refused, later(now, kRearmDelay));
  }
  look(queue);
}

void LockWaits::on_push(NodeIndex node, const Reply& push, Instant now) {
  const auto& items = push.items();
  if (!can_push_.test(node)) return;  // what a connection said that is over by now
  if (items.size() != 3 || items[0].text() != "lock.free") return;
  const auto found = queues_.find(std::string(items[1].text()));
  if (found == queues_.end()) return;
  Queue& queue = found->second;
  const bool is_free = items[2].integer() != 0;
  set(queue, node, is_free ? NodeWait::State::free : NodeWait::State::idle,
      is_free ? later(now, kWakeWindow) : kNever);
  // What a node says once is not believed for longer than a wake lasts.
  if (is_free) queue.node_waits[node].told_by = later(now, kWakeMax);
  arm_idle(queue, now);
  look(queue);
}

void LockWaits::on_time(Instant now) {
  while (!deadlines_.empty() && deadlines_.top().when <= now) {
    const Deadline due = deadlines_.top();
    deadlines_.pop();
    const auto found = by_number_.find(due.number);
    if (found == by_number_.end() || found->second->check_at != due.when) continue;
    Queue& queue = *found->second;
    queue.check_at = kNever;
    for (NodeIndex node = 0; node < nodes_; ++node) time_out(queue, node, now);
    arm_idle(queue, now);
    look(queue);
  }
}

void LockWaits::time_out(Queue& queue, NodeIndex node, Instant now) {
  NodeWait& node_wait = queue.node_waits[node];
  if (node_wait.until > now) return check(queue, node_wait.until);
  if (node_wait.state == NodeWait::State::asked) {
    node_wait.doubtful = true;
    set(queue, node, NodeWait::State::refused, later(now, kRearmDelay));
  } else if (node_wait.state == NodeWait::State::free && node_wait.told_by > now) {
    set(queue, node, NodeWait::State::free, node_wait.told_by);  // it is enough by itself now
  } else {
    set(queue, node, NodeWait::State::idle, kNever);
  }
}

std::optional<Instant> LockWaits::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.top().when;
}

void LockWaits::set(Queue& queue, NodeIndex node, NodeWait::State state, Instant until) {
  queue.node_waits[node].state = state;
  queue.node_waits[node].until = until;
  check(queue, until);
}

void LockWaits::check(Queue& queue, Instant when) {
  if (when >= queue.check_at) return;
  queue.check_at = when;
  deadlines_.push({when, queue.number});
}

// Never for longer than the most patient of the queue still waits.
void LockWaits::arm_idle(Queue& queue, Instant now) {
  const Duration timeout = std::min(kWakeMax, *queue.untils.rbegin() - now);
  if (timeout <= 0ns) return;
  for (NodeIndex node = 0; node < nodes_; ++node) {
    NodeWait& node_wait = queue.node_waits[node];
    if (node_wait.state != NodeWait::State::idle || !can_push_.test(node)) continue;
    node_wait.told_by = later(now, timeout + node_timeout_);
    set(queue, node, NodeWait::State::asked, later(now, node_timeout_));
    const auto& first = queue.waiters.begin()->second;
    const auto ticket = without_tickets_.test(node) ? std::nullopt : first.shown;
    node_wait.in_line = ticket.has_value();
    orders_.push_back({node, queue.number, queue.claim, timeout, ticket});
  }
}

// A node that has called the queue calls the next as soon as it hears that nobody comes.
void LockWaits::cancel_armed(Queue& queue, bool has_taken) {
  for (NodeIndex node = 0; node < nodes_; ++node) {
    const NodeWait::State state = queue.node_waits[node].state;
    const bool may_be_armed = state == NodeWait::State::asked || state == NodeWait::State::armed ||
                              state == NodeWait::State::refused ||
                              (state == NodeWait::State::free && !has_taken);
    if (may_be_armed && can_push_.test(node)) {
      orders_.push_back({node, WaitNumber::none, queue.claim, 0ns});
    }
  }
}

// --- who is told

void LockWaits::look(Queue& queue) {
  const bool covered = computes_covered(queue);
  if (covered != queue.covered) {
    queue.covered = covered;
    for (const auto& [ticket, waiter] : queue.waiters) {
      ++waiters_seen_;
      if (!waiter.is_attempting) changed_.push_back(waiter.operation);
    }
  }
  const bool may_try = queue.attempting == 0 && is_free(queue);
  const Ticket turn = may_try ? queue.waiters.begin()->first : 0;
  if (turn == queue.turn) return;
  queue.turn = turn;
  if (turn != 0) changed_.push_back(queue.waiters.at(turn).operation);
}

bool LockWaits::is_free(const Queue& queue) const {
  if (count(queue, NodeWait::State::free) >= quorum_of(nodes_)) return true;
  return is_called(queue, true);
}

// By one that denied the last attempt; lately, or a while ago.
bool LockWaits::is_called(const Queue& queue, bool a_while_ago) {
  for (NodeIndex node = 0; node < queue.node_waits.size(); ++node) {
    const NodeWait& node_wait = queue.node_waits[node];
    const bool has_called = node_wait.state == NodeWait::State::free && node_wait.in_line;
    const bool is_lately = node_wait.until != node_wait.told_by;
    if (has_called && queue.denied.test(node) && !(a_while_ago && is_lately)) return true;
  }
  return false;
}

bool LockWaits::is_called_alone(const std::string& name) const {
  const Queue* queue = find(name);
  if (queue == nullptr) return false;
  return std::all_of(queue->node_waits.begin(), queue->node_waits.end(), [](const NodeWait& wait) {
    return wait.state != NodeWait::State::free || wait.in_line;
  });
}

bool LockWaits::computes_covered(const Queue& queue) const {
  if (queue.attempting > 0) return true;
  const auto holds = static_cast<std::size_t>(std::count_if(
      queue.node_waits.begin(), queue.node_waits.end(), [](const NodeWait& node_wait) {
        const bool is_asked = node_wait.state == NodeWait::State::asked && !node_wait.doubtful;
        return is_asked || node_wait.state == NodeWait::State::armed;
      }));
  return is_free(queue) || is_called(queue, false) || holds > nodes_ - quorum_of(nodes_);
}

std::size_t LockWaits::count(const Queue& queue, NodeWait::State state) {
  return static_cast<std::size_t>(
      std::count_if(queue.node_waits.begin(), queue.node_waits.end(),
                    [state](const NodeWait& node_wait) { return node_wait.state == state; }));
}

}  // namespace redlock::coordinator
