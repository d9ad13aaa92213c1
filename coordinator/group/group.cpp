#include "coordinator/group/group.h"

#include "base/invariant.h"
#include "coordinator/group/door/deadline_operation.h"
#include "coordinator/group/door/read_operation.h"
#include "coordinator/group/door/wait_operation.h"
#include "coordinator/group/operation.h"
#include "coordinator/group/survey/list_operation.h"
#include "coordinator/group/survey/survey_operation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

Group::Group(Options options, ValueSource values, std::uint64_t seed)
    : parts_(std::move(options), std::move(values), seed) {}

Group::~Group() = default;

void Group::start(Instant now) {
  for (Link& link : parts_.links) link.start(now);
}

// --- operations

OperationId Group::when_ready(Instant now, std::function<void()> done) {
  const OperationId id = begin(std::make_unique<ReadyOperation>(parts_, std::move(done)), now);
  readiness_.push_back(id);
  return id;
}

OperationId Group::acquire(AcquireRequest request, Instant now,
                           std::function<void(AcquireResult)> done) {
  return begin(std::make_unique<AcquireOperation>(parts_, std::move(request), now, std::move(done)),
               now);
}

OperationId Group::extend(const HeldLock& lock, Instant now,
                          std::function<void(ExtendResult)> done) {
  return begin(std::make_unique<ExtendOperation>(parts_, lock, std::move(done)), now);
}

OperationId Group::extend(ExtendRequest request, Instant now,
                          std::function<void(ExtendResult)> done) {
  return begin(std::make_unique<DeadlineOperation>(parts_, std::move(request), std::move(done)),
               now);
}

OperationId Group::read(ReadRequest request, Instant now, std::function<void(ReadResult)> done) {
  return begin(std::make_unique<ReadOperation>(parts_, std::move(request), std::move(done)), now);
}

OperationId Group::wait_for_free(const WaitRequest& request, Instant now,
                                 std::function<void(WaitResult)> done) {
  const OperationId id =
      begin(std::make_unique<WaitOperation>(parts_, request, now, std::move(done)), now);
  carry_out_waits(now);
  return id;
}

void Group::leave_place(const std::string& name, WaitPlace place, Instant now) {
  parts_.waits.leave(name, place, now);
  carry_out_waits(now);
}

OperationId Group::release(const HeldLock& lock, Instant now,
                           std::function<void(ReleaseResult)> done) {
  return begin(
      std::make_unique<ReleaseOperation>(parts_, lock, ReleaseKind::final, std::move(done)), now);
}

void Group::undo(const HeldLock& lock, Instant now) {
  begin(std::make_unique<ReleaseOperation>(parts_, lock, ReleaseKind::undo,
                                           [](const ReleaseResult&) {}),
        now);
}

void Group::release_prefix(const HeldLock& lock, Instant now) {
  begin(std::make_unique<ReleaseOperation>(parts_, lock, ReleaseKind::prefix,
                                           [](const ReleaseResult&) {}),
        now);
}

OperationId Group::survey(std::span<const RequestKind> questions, std::string name, Instant now,
                          std::function<void(std::vector<NodeFinding>)> done) {
  return begin(
      std::make_unique<SurveyOperation>(parts_, questions, std::move(name), std::move(done)), now);
}

OperationId Group::list(std::string pattern, Instant now, std::function<void(ListResult)> done) {
  return begin(std::make_unique<ListOperation>(parts_, std::move(pattern), std::move(done)), now);
}

OperationId Group::admit(OperatorsFloor by_operator, Instant now,
                         std::function<void(AdmitResult)> done) {
  const AdmissionPlan plan{.candidates = all_nodes(size()), .by_operator = by_operator};
  const auto tell = [this, done = std::move(done)](const Admission& admission, Instant) {
    AdmitResult result{.outcome = admission.outcome(),
                       .floor = admission.floor(),
                       .least_floor = admission.least_floor(),
                       .nodes = {}};
    for (NodeIndex node = 0; node < size(); ++node) {
      result.nodes.push_back(admission.standing(node));
    }
    done(std::move(result));
  };
  return begin(std::make_unique<AdmitOperation>(parts_, plan, true, tell), now);
}

void Group::cancel(OperationId id, Instant now) {
  Operation* operation = find(id);
  if (operation == nullptr) return;
  operation->cancel(now);
  remove(id);
  carry_out_waits(now);
}

OperationId Group::begin(std::unique_ptr<Operation> operation, Instant now) {
  if (free_slots_.empty()) {
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
  want_call(started, started.finished() ? now : started.next_deadline().value_or(now));
  return id;
}

void Group::want_call(Operation& operation, Instant when) {
  INVARIANT(parts_.actions.empty(), "actions of an operation that it did not carry out");
  operation.scheduled = when;
  deadlines_.add({when, operation.id()}, [this](OperationId id) { return find(id) == nullptr; });
}

// The operation whatever its attempt; on_answer's caller compares the ids.
Operation* Group::find(OperationId id) {
  if (id.slot >= slots_.size() || slots_[id.slot].generation != id.generation) return nullptr;
  return slots_[id.slot].operation.get();
}

std::unique_ptr<Operation> Group::remove(OperationId id) {
  free_slots_.push_back(id.slot);
  return std::move(slots_[id.slot].operation);
}

// Tells the outcome of an operation that is finished, or makes sure that its next deadline is seen.
void Group::after_event(Operation& operation) {
  if (operation.finished()) {
    remove(operation.id())->tell();  // which may begin another operation in this very slot
    return;
  }
  const auto wanted = operation.next_deadline();
  if (!wanted || (operation.scheduled && *operation.scheduled <= *wanted)) return;
  want_call(operation, *wanted);
}

// --- events

void Group::on_connected(NodeIndex node, Instant now) {
  parts_.links[node].on_connected(now);
  hasten(node, now);
}

void Group::on_bytes(NodeIndex node, std::string_view bytes, Instant now) {
  Link& link = parts_.links[node];
  const Link::State before = link.state();
  link.on_bytes(bytes, now);
  if (link.state() == Link::State::identified) {
    identify_all(now);
  } else if (link.state() != before) {
    link_changed(node, now);
  }
  deliver(now);
  if (newer_roster_) adopt_roster(now);
  admit_unfenced(now);
}

void Group::on_end(NodeIndex node, std::string_view reason, Instant now) {
  if (lead_elsewhere(node, now)) return;
  parts_.links[node].on_end(reason, now);
  link_changed(node, now);
  deliver(now);
}

// Every node that has told who it is, and is neither asked nor sent away yet. One of these told a
// first roster of which it was open whether it is the list's (Rosters::Met::unsure): what another
// node tells since, or that it fails, decides.
void Group::identify_all(Instant now) {
  for (NodeIndex node = 0; node < parts_.links.size() && !newer_roster_; ++node) {
    const Link& link = parts_.links[node];
    if (link.state() != Link::State::identified) continue;
    identify(node, now);
    if (link.state() == Link::State::identified) continue;
    link_changed(node, now);
    return identify_all(now);
  }
}

// Of two addresses that lead to one node one is of no use, and its operator is told. The votes do
// not rest on it: they are counted by who gave them (rule Q5, Ballot). So an address whose
// connection has ended keeps nobody out, and two addresses that change nodes for good are both
// linked again as soon as both old connections have ended and were dialled anew.
void Group::identify(NodeIndex node, Instant now) {
  for (NodeIndex other = 0; other < parts_.links.size(); ++other) {
    const bool is_ready = parts_.links[other].is_ready();
    if (!is_ready || parts_.links[other].identity() != parts_.links[node].identity()) continue;
    return parts_.links[node].reject(
        AnswerKind::duplicate, fmt::format("is the same node as {}", nodes()[other].name), now);
  }
  if (!meet_member(node, now)) return;
  parts_.links[node].accept(now);
  const NodeFacts& facts = parts_.links[node].facts();
  if (facts.kind != NodeKind::redlock_node || !parts_.options.admit_unfenced) return;
  // The floor of a list that is none of the group may lie below tokens that were given (rule F6).
  if (!parts_.rosters.refusal().empty()) return;
  const NodeStatus& status = facts.status;
  if (!status.fenced) parts_.admissions.on_unfenced(node, admissible_in(status), now);
}

// Whoever meets an unfenced node admits it (rule F6).
void Group::admit_unfenced(Instant now) {
  if (const auto plan = parts_.admissions.begin(now)) {
    const auto on_end = [this](const Admission& admission, Instant ended) {
      admission_ended(admission, ended);
    };
    begin(std::make_unique<AdmitOperation>(parts_, *plan, false, on_end), now);
  }
}

void Group::admission_ended(const Admission& admission, Instant now) {
  parts_.admissions.end(admission, now);
  if (admission.admitted_any()) parts_.last_admitted = now;
  for (const OperationId id : std::exchange(parts_.awaiting_admission, {})) {
    Operation* operation = find(id);
    if (operation == nullptr) continue;
    operation->on_admission_ended(admission, now);
    after_event(*operation);
  }
}

void Group::link_changed(NodeIndex node, Instant now) {
  const Link& link = parts_.links[node];
  if (link.is_settled()) parts_.settled.set(node);
  const bool is_ready = link.is_ready();
  parts_.waits.on_link(node, is_ready && link.facts().kind == NodeKind::redlock_node, now);
  if (!is_ready) parts_.admissions.on_connection_ended(node);
  for (const OperationId id : std::vector<OperationId>(readiness_)) {
    Operation* operation = find(id);
    if (operation == nullptr) {
      std::erase(readiness_, id);
      continue;
    }
    operation->on_link_changed(now);
    after_event(*operation);
  }
}

// A callback may send more, which may complete at once, so it goes on until nothing is left.
void Group::deliver(Instant now) {
  std::vector<Completion> batch = std::exchange(completions_, {});
  for (NodeIndex node = 0; node < parts_.links.size(); ++node) {
    if (parts_.links[node].has_pushes()) {
      for (const protocol::Reply& push : parts_.links[node].take_pushes()) {
        parts_.waits.on_push(node, push, now);
      }
    }
    while (parts_.links[node].has_completions()) {
      batch.clear();
      parts_.links[node].take_completions(batch);
      for (Completion& completion : batch) deliver_to_asker(node, std::move(completion), now);
    }
  }
  batch.clear();
  completions_ = std::move(batch);
  carry_out_waits(now);
}

// An answer to an earlier attempt, or to an operation that is over, is a late one.
void Group::deliver_to_asker(NodeIndex node, Completion&& completion, Instant now) {
  if (completion.kind == RequestKind::wait) {
    return parts_.waits.on_answer(node, completion.wait, completion.answer, now);
  }
  Operation* operation = find(completion.operation);
  if (operation == nullptr || operation->id() != completion.operation) {
    return deliver_late(node, completion, now);
  }
  operation->on_answer(node, std::move(completion), now);
  after_event(*operation);
}

// Sends what arms and cancels wakes, behind what was sent so far on each link, and lets those look
// again for whom they changed something. Calls nobody back.
void Group::carry_out_waits(Instant now) {
  while (parts_.waits.has_news()) {
    for (LockWaits::Order& order : parts_.waits.take_orders()) {
      parts_.links[order.node].send({.kind = RequestKind::wait,
                                     .claim = std::move(order.claim),
                                     .ttl = order.timeout,
                                     .wait = order.number,
                                     .ticket = order.ticket},
                                    now);
    }
    for (const OperationId id : parts_.waits.take_changed()) {
      Operation* operation = find(id);
      if (operation == nullptr) continue;
      operation->on_wake(now);
      after_event(*operation);
    }
  }
}

void Group::deliver_late(NodeIndex node, const Completion& completion, Instant now) {
  auto request = parts_.late.on_answer(node, parts_.links[node].connection(), completion, now);
  if (!request) return;
  if (request->tops_up) ++parts_.figures.top_ups;
  parts_.links[node].send(std::move(*request), now);
}

void Group::on_time(Instant now) {
  for (NodeIndex node = 0; node < parts_.links.size(); ++node) {
    Link& link = parts_.links[node];
    if (link.is_overdue(now) && lead_elsewhere(node, now)) continue;
    const Link::State before = link.state();
    link.on_time(now);
    if (link.state() != before) link_changed(node, now);
  }
  identify_all(now);
  parts_.waits.on_time(now);
  deliver(now);
  admit_unfenced(now);
  look_after_roster(now);
  look_again(now);
  run_deadlines(now);
  if (newer_roster_) adopt_roster(now);
  carry_out_waits(now);
}

void Group::run_deadlines(Instant now) {
  while (!deadlines_.empty()) {
    const Deadlines::Deadline next = deadlines_.earliest();
    Operation* operation = find(next.operation);
    // The dead are cleared away here, so that they do not wake the loop one by one.
    if (operation != nullptr && next.when > now) return;
    deadlines_.drop_earliest();
    if (operation == nullptr) continue;
    operation->scheduled.reset();
    const auto wanted = operation->next_deadline();
    if (wanted && *wanted <= now) operation->on_time(now);
    after_event(*operation);
  }
}

std::optional<Instant> Group::next_deadline() const {
  if (newer_roster_) return Instant(0ns);
  Instant next = deadlines_.empty() ? kNever : deadlines_.earliest().when;
  next = std::min(next, parts_.waits.next_deadline().value_or(kNever));
  next = std::min(next, parts_.admissions.next_deadline().value_or(kNever));
  next = std::min(next, roster_work_at_.value_or(kNever));
  next = std::min(next, look_again_at_.value_or(kNever));
  for (const Link& link : parts_.links) {
    if (link.has_completions()) return Instant(0ns);
    next = std::min(next, link.next_deadline().value_or(kNever));
  }
  if (next == kNever) return std::nullopt;
  return next;
}

void Group::forget_figures() {
  parts_.figures = {};
  for (Link& link : parts_.links) link.forget_figures();
}

std::size_t Group::releases_pending() const {
  std::size_t pending = 0;
  for (const Link& link : parts_.links) pending += link.releases_pending();
  return pending;
}

std::size_t Group::releases_under_way() const {
  std::size_t under_way = 0;
  for (const Link& link : parts_.links) {
    if (link.state() != Link::State::backing_off) under_way += link.releases_pending();
  }
  return under_way;
}

}  // namespace redlock::coordinator
