#include "coordinator/group/group.h"

#include "coordinator/group/operation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

Group::Group(Options options, ValueSource values, std::uint64_t seed)
    : options_(std::move(options)),
      values_(std::move(values)),
      random_(seed),
      admissions_(options_.nodes.size(), random_),
      wakes_(options_.nodes.size(), options_.node_timeout) {
  INVARIANT(!options_.nodes.empty() && options_.nodes.size() <= kNodesMax, "a group of no size");
  links_.reserve(options_.nodes.size());
  for (const Node& node : options_.nodes) links_.emplace_back(node.credentials, random_);
}

Group::~Group() = default;

void Group::start(Instant now) {
  for (Pipeline& link : links_) link.start(now);
}

// No single node may cost more than a third of what a lock is worth.
Terms Group::terms(Duration ttl, bool fencing) const {
  return {.nodes = links_.size(),
          .ttl = ttl,
          .node_timeout = std::min(options_.node_timeout, ttl / 3),
          .clock_drift = options_.clock_drift,
          .fencing = fencing,
          .hear_everyone = options_.hear_everyone};
}

// --- operations

OperationId Group::when_ready(Instant now, std::function<void()> done) {
  const OperationId id = begin(std::make_unique<ReadyOperation>(*this, std::move(done)), now);
  readiness_.push_back(id);
  return id;
}

OperationId Group::acquire(AcquireRequest request, Instant now,
                           std::function<void(AcquireResult)> done) {
  return begin(std::make_unique<AcquireOperation>(*this, std::move(request), now, std::move(done)),
               now);
}

OperationId Group::extend(const HeldLock& lock, Instant now,
                          std::function<void(ExtendResult)> done) {
  return begin(std::make_unique<ExtendOperation>(*this, lock, std::move(done)), now);
}

OperationId Group::release(const HeldLock& lock, Instant now,
                           std::function<void(ReleaseResult)> done) {
  return begin(std::make_unique<ReleaseOperation>(*this, lock, std::move(done)), now);
}

OperationId Group::survey(std::span<const RequestKind> questions, std::string name, Instant now,
                          std::function<void(std::vector<NodeFinding>)> done) {
  return begin(
      std::make_unique<SurveyOperation>(*this, questions, std::move(name), std::move(done)), now);
}

OperationId Group::admit(OperatorsFloor by_operator, Instant now,
                         std::function<void(AdmitResult)> done) {
  const AdmissionPlan plan{.candidates = all_nodes(links_.size()), .by_operator = by_operator};
  return begin(std::make_unique<AdmitOperation>(*this, plan, std::move(done)), now);
}

void Group::cancel(OperationId id, Instant now) {
  Operation* operation = find(id);
  if (operation == nullptr) return;
  operation->cancel(now);
  remove(id);
  carry_out_wakes(now);
}

OperationId Group::begin(std::unique_ptr<Operation> operation, Instant now) {
  if (free_slots_.empty()) {
    INVARIANT(slots_.size() < kSlotsMax, "too many operations at once");
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  ++slot.generation;
  const OperationId id{.slot = index, .generation = slot.generation};
  Operation& started = *operation;
  slot.operation = std::move(operation);
  started.set_id(id);
  started.start(now);
  // Also one that is finished already is told of later, from on_time: never from inside this call.
  const Instant wanted = started.finished() ? now : started.next_deadline().value_or(now);
  started.scheduled = wanted;
  deadlines_.push({wanted, id});
  return id;
}

// The operation whatever its attempt; on_answer's caller compares the ids.
Group::Operation* Group::find(OperationId id) {
  if (id.slot >= slots_.size() || slots_[id.slot].generation != id.generation) return nullptr;
  return slots_[id.slot].operation.get();
}

std::unique_ptr<Group::Operation> Group::remove(OperationId id) {
  free_slots_.push_back(id.slot);
  return std::move(slots_[id.slot].operation);
}

// Tells the outcome of an operation that is finished, or makes sure that its next deadline is seen.
void Group::after_event(Operation& operation, Instant) {
  if (operation.finished()) {
    remove(operation.id())->tell();  // which may begin another operation in this very slot
    return;
  }
  const auto wanted = operation.next_deadline();
  if (!wanted || (operation.scheduled && *operation.scheduled <= *wanted)) return;
  operation.scheduled = wanted;
  deadlines_.push({*wanted, operation.id()});
}

// --- events

void Group::on_connected(NodeIndex node, Instant now) {
  links_[node].on_connected(now);
}

void Group::on_bytes(NodeIndex node, std::string_view bytes, Instant now) {
  Pipeline& link = links_[node];
  const Pipeline::State before = link.state();
  link.on_bytes(bytes, now);
  if (link.state() == Pipeline::State::identified) identify(node, now);
  if (link.state() != before) link_changed(node, now);
  deliver(now);
  admit_unfenced(now);
}

void Group::on_end(NodeIndex node, std::string_view reason, Instant now) {
  links_[node].on_end(reason, now);
  link_changed(node, now);
  deliver(now);
}

// Of two addresses that lead to one node one is of no use, and its operator is told. The votes do
// not rest on it: they are counted by who gave them (rule Q5, Ballot). So an address whose
// connection has ended keeps nobody out, and two addresses that change nodes for good are both
// linked again as soon as both old connections have ended and were dialled anew.
void Group::identify(NodeIndex node, Instant now) {
  for (NodeIndex other = 0; other < links_.size(); ++other) {
    const bool is_ready = links_[other].state() == Pipeline::State::ready;
    if (!is_ready || links_[other].identity() != links_[node].identity()) continue;
    return links_[node].reject(fmt::format("is the same node as {}", options_.nodes[other].name),
                               now);
  }
  links_[node].accept(now);
  const NodeFacts& facts = links_[node].facts();
  const bool is_unfenced = facts.kind == NodeKind::redlock_node && !facts.status.fenced;
  if (is_unfenced && options_.admit_unfenced) {
    admissions_.on_unfenced(node, admissible_in(facts.status), now);
  }
}

// Whoever meets an unfenced node admits it (rule F6).
void Group::admit_unfenced(Instant now) {
  if (const auto plan = admissions_.begin(now)) {
    begin(std::make_unique<AdmitOperation>(*this, *plan, nullptr), now);
  }
}

void Group::admission_ended(const Admission& admission, Instant now) {
  admissions_.end(admission, now);
  if (admission.admitted_any()) last_admitted_ = now;
  for (const OperationId id : std::exchange(awaiting_admission_, {})) {
    Operation* operation = find(id);
    if (operation == nullptr) continue;
    operation->on_admission_ended(admission, now);
    after_event(*operation, now);
  }
}

void Group::link_changed(NodeIndex node, Instant now) {
  const Pipeline& link = links_[node];
  if (link.is_settled()) settled_.set(node);
  const bool is_ready = link.state() == Pipeline::State::ready;
  wakes_.on_link(node, is_ready && link.facts().kind == NodeKind::redlock_node, now);
  if (!is_ready) admissions_.on_connection_ended(node);
  for (const OperationId id : std::vector<OperationId>(readiness_)) {
    Operation* operation = find(id);
    if (operation == nullptr) {
      std::erase(readiness_, id);
      continue;
    }
    operation->on_link_changed(now);
    after_event(*operation, now);
  }
}

// Hands every completion to its operation. A callback may send more, which may complete at once, so
// it goes on until nothing is left.
void Group::deliver(Instant now) {
  std::vector<Completion> batch = std::exchange(completions_, {});
  for (NodeIndex node = 0; node < links_.size(); ++node) {
    if (links_[node].has_pushes()) {
      for (const protocol::Reply& push : links_[node].take_pushes()) {
        wakes_.on_push(node, push, now);
      }
    }
    while (links_[node].has_completions()) {
      batch.clear();
      links_[node].take_completions(batch);
      for (Completion& completion : batch) {
        if (completion.kind == RequestKind::wait) {
          wakes_.on_answer(node, completion.wait, completion.answer, now);
          continue;
        }
        Operation* operation = find(completion.operation);
        if (operation == nullptr || operation->id() != completion.operation) {
          deliver_late(node, completion, now);
          continue;
        }
        operation->on_answer(node, std::move(completion), now);
        after_event(*operation, now);
      }
    }
  }
  batch.clear();
  completions_ = std::move(batch);
  carry_out_wakes(now);
}

// Sends what arms and cancels wakes, behind what was sent so far on each link, and lets those look
// again for whom they changed something. Calls nobody back.
void Group::carry_out_wakes(Instant now) {
  while (wakes_.has_news()) {
    for (Wakes::Order& order : wakes_.take_orders()) {
      links_[order.node].send({.kind = RequestKind::wait,
                               .claim = std::move(order.claim),
                               .ttl = order.timeout,
                               .wait = order.number},
                              now);
    }
    for (const OperationId id : wakes_.take_stirred()) {
      Operation* operation = find(id);
      if (operation == nullptr) continue;
      operation->on_wake(now);
      after_event(*operation, now);
    }
  }
}

void Group::deliver_late(NodeIndex node, const Completion& completion, Instant now) {
  auto request = late_.on_answer(node, links_[node].connection(), completion, now);
  if (request) links_[node].send(std::move(*request), now);
}

void Group::on_time(Instant now) {
  for (NodeIndex node = 0; node < links_.size(); ++node) {
    const Pipeline::State before = links_[node].state();
    links_[node].on_time(now);
    if (links_[node].state() != before) link_changed(node, now);
  }
  wakes_.on_time(now);
  deliver(now);
  admit_unfenced(now);
  run_deadlines(now);
  carry_out_wakes(now);
}

void Group::run_deadlines(Instant now) {
  while (!deadlines_.empty()) {
    const Deadline next = deadlines_.top();
    Operation* operation = find(next.operation);
    // The dead are cleared away here, so that they do not wake the loop one by one.
    if (operation != nullptr && next.when > now) return;
    deadlines_.pop();
    if (operation == nullptr) continue;
    operation->scheduled.reset();
    const auto wanted = operation->next_deadline();
    if (wanted && *wanted <= now) operation->on_time(now);
    after_event(*operation, now);
  }
}

std::optional<Instant> Group::next_deadline() const {
  Instant next = deadlines_.empty() ? kNever : deadlines_.top().when;
  next = std::min(next, wakes_.next_deadline().value_or(kNever));
  next = std::min(next, admissions_.next_deadline().value_or(kNever));
  for (const Pipeline& link : links_) {
    if (link.has_completions()) return Instant(0ns);
    next = std::min(next, link.next_deadline().value_or(kNever));
  }
  if (next == kNever) return std::nullopt;
  return next;
}

std::size_t Group::releases_pending() const {
  std::size_t pending = 0;
  for (const Pipeline& link : links_) pending += link.releases_pending();
  return pending;
}

std::size_t Group::releases_under_way() const {
  std::size_t under_way = 0;
  for (const Pipeline& link : links_) {
    if (link.state() != Pipeline::State::backing_off) under_way += link.releases_pending();
  }
  return under_way;
}

}  // namespace redlock::coordinator
