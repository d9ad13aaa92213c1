#include "tests/simulation/lock_user.h"

#include "coordinator/group/operation.h"
#include "tests/simulation/calm.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using coordinator::AcquireResult;
using coordinator::AcquisitionOutcome;
using coordinator::ExtendResult;
using coordinator::ExtensionOutcome;
using coordinator::HeldLock;

constexpr Instant kClientsFirstReading{std::chrono::minutes(10)};

std::string key_name(const Scenario& scenario, unsigned key) {
  return fmt::format("key{}", scenario.first_key + key);
}

std::string outcome_text(AcquisitionOutcome outcome) {
  switch (outcome) {
    case AcquisitionOutcome::held:
      return "is held by another";
    case AcquisitionOutcome::no_quorum:
      return "no quorum";
    case AcquisitionOutcome::too_late:
      return "too late";
    case AcquisitionOutcome::unfenced:
      return "too few fenced nodes";
    case AcquisitionOutcome::pending:
    case AcquisitionOutcome::acquired:
    case AcquisitionOutcome::abandoned:
      break;
  }
  return "?";
}

}  // namespace

LockUser::LockUser(const Surroundings& world, unsigned number)
    : world_(world),
      agenda_(world.agenda),
      number_(number),
      random_(world.scenario.seed * 8209 + number),
      clock_(agenda_.now(), kClientsFirstReading, world.scenario.client_rates[number - 1]),
      alarm_(agenda_, [this] { on_alarm(); }) {
  const Scenario& scenario = world.scenario;
  const unsigned members = scenario.members > 0 ? scenario.members : scenario.nodes;
  for (unsigned node = 1; node <= members; ++node) list_.push_back(node);
}

LockUser::~LockUser() = default;

void LockUser::start() {
  ++life_;
  Group::Options options;
  options.node_timeout = world_.scenario.node_timeout;
  options.clock_drift = world_.scenario.drift();
  options.hear_everyone = world_.scenario.hear_everyone;
  options.wall_clock = [this] { return kFirstWallTime + (now() - kClientsFirstReading); };
  for (const unsigned node : list_) options.nodes.push_back({node_name(node), {}});
  addresses_ = list_;
  connections_.assign(list_.size(), std::nullopt);
  node_changes_ = epoch_ = 0;
  group_ = std::make_unique<Group>(
      std::move(options), [this] { return new_value(); }, random_());
  group_->start(now());
  tell("starts");
  turn();
}

void LockUser::restart() {
  die();
  start();
}

// An attempt makes its value before it sends a byte, so that is when it begins to ask.
std::string LockUser::new_value() {
  const std::uint64_t first = random_();  // in this order, whatever the compiler
  std::string value = fmt::format("{:016x}{:016x}", first, random_());
  asked_[value] = agenda_.now();
  return value;
}

coordinator::AcquireRequest LockUser::request(const Event& event) const {
  return {.name = key_name(world_.scenario, event.key),
          .ttl = event.ttl,
          .patience = {event.wait},
          .fence = event.fence && !world_.scenario.plain};
}

// Where the group may change it stays once for that.
Duration LockUser::attempt_time(const Event& event) const {
  const Duration stays =
      world_.scenario.members > 0 ? coordinator::AcquireOperation::kChangeTimeMax : 0ns;
  return event.wait + 6 * world_.scenario.node_timeout + stays;
}

void LockUser::want(const Event& event) {
  whenever([=, this] {
    if (!group_) return;
    tell(fmt::format("wants key {} for {} ms", event.key, ceil_ms(event.ttl)));
    const auto ended = must_end_within(attempt_time(event), "attempt");
    wanting_.push_back(group_->acquire(request(event), now(), [=, this](const AcquireResult& got) {
      ended();
      on_acquired(event, got);
    }));
    turn();
  });
}

void LockUser::on_acquired(const Event& event, const AcquireResult& result, Probed probed) {
  if (result.outcome != AcquisitionOutcome::acquired) {
    return tell(fmt::format("does not get key {}: {}", event.key, outcome_text(result.outcome)));
  }
  ++acquired_;
  rely_on(event, result.lock, asked_.at(result.lock.claim->value), std::move(probed));
}

void LockUser::rely_on(const Event& event, const HeldLock& lock, TrueTime asked, Probed probed) {
  tell(fmt::format("has key {} with token {}, valid for {} ms", event.key, lock.token,
                   floor_ms(lock.valid_until - now())));
  const HeldId id = ++last_held_;
  Held& held = held_[id];
  held = {
      .wanted = event,
      .lock = lock,
      .hold = world_.referee.begin({.client = number_,
                                    .key = event.key,
                                    .token = lock.token,
                                    .asked = asked,
                                    .valid_until = lock.valid_until,
                                    .clock = &clock_}),
      .release_at = event.holding == Holding::run_out ? kEndOfTime : agenda_.now() + event.length,
      .keeper = {},
      .slept = slept_,
      .probed = std::move(probed)};
  if (event.holding == Holding::keep) {
    held.keeper.emplace(
        coordinator::Keeper::Terms{.ttl = lock.ttl, .notice = lock.ttl / kNoticePart},
        lock.valid_until, clocks());
  }
  look_after(id);
}

// As Guard::Keeping::look does it, and as a program does that lets its lock run out.
void LockUser::look_after(HeldId id) {
  const auto found = held_.find(id);
  if (found == held_.end() || !group_) return;
  Held& held = found->second;
  if (agenda_.now() >= held.release_at) return let_go(id, true);
  if (!held.keeper) {
    if (now() >= held.lock.valid_until) return let_go(id, held.wanted.holding == Holding::release);
  } else {
    held.keeper->on_time(clocks());
    check_awake(held);
    if (held.keeper->loss()) return let_go(id, true);
    if (held.keeper->wants_extension()) extend(id);
  }
  const Instant next =
      held.keeper ? held.keeper->next_deadline().value_or(kNever) : held.lock.valid_until;
  const TrueTime when = std::min(held.release_at, clock_.when(next, agenda_.now()));
  agenda_.at(when, [=, this, number = ++held.looks] {
    const auto look = [=, this] {
      const auto again = held_.find(id);
      if (again == held_.end() || again->second.looks != number) return;
      look_after(id);
      turn();
    };
    is_paused() ? overdue_.push_back(look) : look();
  });
}

void LockUser::extend(HeldId id) {
  Held& held = held_.at(id);
  held.keeper->begin_extension(now());
  held.extension_began = agenda_.now();
  held.extension_ended = must_end_within(2 * world_.scenario.node_timeout, "extension");
  held.extension = group_->extend(
      held.lock, now(), [=, this](const ExtendResult& result) { on_extended(id, result); });
}

void LockUser::on_extended(HeldId id, const ExtendResult& result) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  Held& held = found->second;
  held.extension = coordinator::kNobody;
  held.extension_ended();
  held.keeper->on_extended(result, now());
  held.lock.valid_until = held.keeper->valid_until();
  if (result.outcome == ExtensionOutcome::extended) {
    ++extended_;
    tell(fmt::format("has extended key {}, valid for {} ms", held.wanted.key,
                     floor_ms(held.lock.valid_until - now())));
    world_.referee.extend(held.hold, held.lock.valid_until);
    if (!world_.scenario.plain) {
      world_.referee.check_not_released(held.lock.claim->value, held.extension_began);
    }
  }
  look_after(id);
}

std::optional<HeldLock> LockUser::give_away(unsigned key) {
  for (const auto& [id, held] : held_) {
    if (held.wanted.key != key || !held.keeper) continue;
    world_.referee.give_away(held.hold);
    return held.lock;
  }
  return std::nullopt;
}

std::optional<HeldLock> LockUser::hand_away(unsigned key) {
  for (const auto& [id, held] : held_) {
    if (held.wanted.key != key || held.keeper) continue;
    const HeldLock lock = held.lock;
    let_go(id, false);
    return lock;
  }
  return std::nullopt;
}

void LockUser::go_on_with(const std::optional<HeldLock>& lock, const Event& event) {
  if (!lock || !group_ || is_paused()) return;
  tell(fmt::format("goes on with what client {} has of key {}", event.other, event.key));
  const HeldLock told = coordinator::known_lock(lock->claim->name, lock->claim->value, lock->ttl);
  const auto ended = must_end_within(2 * world_.scenario.node_timeout, "extension");
  group_->extend(told, now(), [=, this, asked = agenda_.now()](const ExtendResult& result) {
    ended();
    if (result.outcome != ExtensionOutcome::extended) return tell("cannot extend it");
    ++extended_;
    HeldLock extended = told;
    extended.valid_until = result.valid_until;
    rely_on(event, extended, asked);
  });
  turn();
}

// Its links are being made when it sends the release, and some may not be when it ends (rule Q3).
void LockUser::release_for(const std::optional<HeldLock>& lock, Duration down) {
  if (!lock || !group_ || is_paused()) return;
  ++faults_;
  tell("is another process, that releases what it was told of");
  restart();
  const HeldLock told = coordinator::known_lock(lock->claim->name, lock->claim->value, lock->ttl);
  group_->release(told, now(), [=, this](const coordinator::ReleaseResult& result) {
    if (result.outcome == coordinator::ReleaseOutcome::no_quorum) return;
    tell("has released it");
    world_.referee.note_released(told.claim->value);
    agenda_.after(0ns, [=, this, life = life_] {
      if (life == life_) kill(down);
    });
  });
  turn();
}

void LockUser::let_go(HeldId id, bool releases) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  const Held held = std::move(found->second);
  held_.erase(found);
  world_.referee.end(held.hold);
  if (held.extension != coordinator::kNobody) {
    group_->cancel(held.extension, now());
    held.extension_ended();
  }
  tell(fmt::format("{} key {}", releases ? "releases" : "no longer relies on", held.wanted.key));
  if (held.probed) {
    const bool is_kept = agenda_.now() >= held.release_at;
    held.probed(is_kept, is_kept ? "" : "it is not kept");
  }
  if (!releases) return;
  const auto ended = must_end_within(2 * world_.scenario.node_timeout, "release");
  group_->release(held.lock, now(), [=](const coordinator::ReleaseResult&) { ended(); });
}

// --- the process

std::string LockUser::name() const {
  return fmt::format("client {}", number_);
}

void LockUser::tell(std::string_view what) {
  const std::string who = name();
  world_.story.note(agenda_.now(), who);
  world_.story.note(agenda_.now(), what);
  if (world_.story.tells_events()) world_.story.tell(agenda_.now(), who, now(), what);
}

void LockUser::whenever(std::function<void()> what) {
  is_paused() ? inbox_.push_back(std::move(what)) : what();
}

bool LockUser::is_held(const std::string& value) const {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const auto& entry) { return entry.second.lock.claim->value == value; });
}

void LockUser::turn() {
  if (!group_) return;
  follow_node_changes();
  collect();
  const auto next = group_->next_deadline();
  alarm_.set(next ? clock_.when(*next, agenda_.now()) : kEndOfTime);
}

// What the links wish: as client_core.cpp does it.
void LockUser::collect() {
  using Wish = coordinator::Link::Wish;
  for (coordinator::NodeIndex node = 0; node < group_->size(); ++node) {
    coordinator::Link& link = group_->link(node);
    std::optional<ConnectionId>& connection = connections_[node];
    const Wish wish = link.take_wish();
    if (wish != Wish::none) hang_up(node);
    if (wish == Wish::dial) connection = world_.network.dial(number_, addresses_[node]);
    if (link.outgoing().empty()) continue;
    // A top-up that came too late is released on its node alone, and the lock goes on.
    for (const std::string& value : released_values(link.outgoing())) {
      if (!is_held(value)) world_.referee.note_release_sent(value, number_);
    }
    if (connection) {
      world_.network.send(*connection, Network::to_node, std::string(link.outgoing()));
    }
    link.outgoing_written();
  }
}

void LockUser::on_alarm() {
  if (!group_ || is_paused()) return;
  group_->on_time(now());
  turn();
}

void LockUser::on_connected(ConnectionId connection) {
  whenever([=, this] {
    const auto found = std::find(connections_.begin(), connections_.end(), connection);
    if (!group_ || found == connections_.end()) return;
    group_->on_connected(static_cast<coordinator::NodeIndex>(found - connections_.begin()), now());
    turn();
  });
}

void LockUser::on_bytes(ConnectionId connection, const std::string& bytes) {
  whenever([=, this] {
    const auto found = std::find(connections_.begin(), connections_.end(), connection);
    if (!group_ || found == connections_.end()) return;
    group_->on_bytes(static_cast<coordinator::NodeIndex>(found - connections_.begin()), bytes,
                     now());
    turn();
  });
}

void LockUser::on_end(ConnectionId connection, std::string_view reason) {
  whenever([=, this] {
    const auto found = std::find(connections_.begin(), connections_.end(), connection);
    if (!group_ || found == connections_.end()) return;
    found->reset();
    group_->on_end(static_cast<coordinator::NodeIndex>(found - connections_.begin()), reason,
                   now());
    turn();
  });
}

// --- faults

// The clock that validity is counted with goes on, the other one stands (rule C3).
void LockUser::suspend(TrueTime until) {
  if (!group_ || is_paused()) return;
  suspended_since_ = agenda_.now();
  pause(until);
}

void LockUser::pause(TrueTime until) {
  if (!group_ || is_paused()) return;
  ++faults_;
  tell("is paused");
  paused_until_ = until;
  agenda_.at(until, [this, life = life_] {
    if (life != life_ || is_paused() || !group_) return;
    tell("goes on");
    go_on();
  });
}

// Its timers are due, and bytes have come. A loop that was stopped in its wait for them looks at
// them first, one that was stopped elsewhere at its timers.
void LockUser::go_on() {
  went_on_at_ = agenda_.now();
  if (suspended_since_) slept_ += now() - clock_.at(*suspended_since_);
  suspended_since_.reset();
  const bool was_waiting = random_.below(2) == 0;
  const auto read = [this] {
    for (const auto& come : std::exchange(inbox_, {})) come();
  };
  if (was_waiting) read();
  on_alarm();
  for (const auto& due : std::exchange(overdue_, {})) due();
  if (!was_waiting) read();
}

void LockUser::die() {
  for (const auto& [id, held] : held_) world_.referee.end(held.hold);
  world_.referee.forget_debts_of(number_);
  held_.clear();
  wanting_.clear();
  watched_.clear();
  if (suspended_since_) slept_ += now() - clock_.at(*suspended_since_);
  suspended_since_.reset();
  inbox_.clear();
  overdue_.clear();
  paused_until_ = {};
  connections_.clear();
  ended_.push_back(std::move(group_));
  world_.network.end_all_of_client(number_);
}

void LockUser::kill(Duration down) {
  if (!group_) return;
  ++faults_;
  tell("is killed");
  die();
  agenda_.after(down, [this, life = life_] {
    if (life == life_ && !group_) start();
  });
}

void LockUser::jump(Duration by) {
  clock_.jump(by);
  tell("'s clock jumps");
}

void LockUser::race(std::int64_t faster_millionths) {
  clock_.set_rate(agenda_.now(), faster_millionths);
  tell("'s clock has another rate");
}

void LockUser::heal() {
  if (is_paused()) {
    paused_until_ = agenda_.now();
    go_on();
  }
  if (!group_) start();
}

void LockUser::stop_wanting() {
  wants_nothing_ = true;
  watched_.clear();  // what is canceled ends unheard
  for (const coordinator::OperationId id : std::exchange(wanting_, {})) group_->cancel(id, now());
  std::vector<HeldId> kept;
  for (const auto& [id, held] : held_) {
    if (held.wanted.holding == Holding::keep) kept.push_back(id);
  }
  for (const HeldId id : kept) let_go(id, true);
  turn();
}

// When its links are as good as they get, which takes no longer than the node timeout.
void LockUser::probe(unsigned key, Duration ttl, Duration wait, Probed done, unsigned tries) {
  const Event event{.client = number_,
                    .key = key,
                    .length = ttl * 3 / 2,
                    .ttl = ttl,
                    .wait = wait,
                    .holding = Holding::keep};
  const auto ready = must_end_within(world_.scenario.node_timeout, "connection");
  const auto kept = [=, this](bool is_kept, const std::string& why) {
    if (is_kept || tries == 1) return done(is_kept, why);
    agenda_.after(0ns, [=, this] { probe(key, ttl, wait, done, tries - 1); });
  };
  group_->when_ready(now(), [=, this] {
    ready();
    group_->acquire(request(event), now(), [=, this](const AcquireResult& result) {
      on_acquired(event, result, kept);
      const bool got = result.outcome == AcquisitionOutcome::acquired;
      if (!got) done(false, outcome_text(result.outcome));
    });
  });
  turn();
}

void LockUser::admit(const coordinator::OperatorsFloor& by_operator,
                     std::function<void(coordinator::AdmissionOutcome)> done) {
  const auto ended = must_end_within(coordinator::kStoreTimeMin, "admission");
  group_->admit(by_operator, now(), [=](const coordinator::AdmitResult& result) {
    ended();
    done(result.outcome);
  });
  turn();
}

}  // namespace redlock::simulation
