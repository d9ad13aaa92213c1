#include "tests/simulation/obligations.h"

#include "server/locks/latest_deadline.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using server::RestartCause;

// The latest deadline is lowered within 20 ms (rule R5), by a loop that may have some to do.
constexpr Duration kLowerTime = 40ms;

constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

void Obligations::note_turn(const server::Node& node, Instant now) {
  Instant latest{};
  node.locks().for_each([&](const server::Lock& lock) {
    if (lock.has_deadline() && !lock.is_over(now)) latest = std::max(latest, lock.deadline());
  });
  latest_ = latest;
  // A node that joins a group waits once more (rule G2).
  wait_end_ = std::max(wait_end_.value_or(Instant{}), node.grants().snapshot_from());
  const Instant recorded = node.ledger().recorded_deadline();
  if (recorded <= latest_to_wait_for()) {
    lags_since_ = kEndOfTime;
  } else {
    lags_since_ = std::min(lags_since_, agenda_.now());
  }
}

Instant Obligations::latest_to_wait_for() const {
  return server::round_up_to_tick(std::max(latest_, wait_end_.value_or(Instant{})));
}

// A holder may rely on a lock for what is left of it on its own clock, which is no faster than by
// the drift bound, and its validity is less than the TTL by as much (rule Q2).
void Obligations::note_end(End end, const server::Node& node, Instant now, bool is_told) {
  node.locks().for_each([&](const server::Lock& lock) {
    const bool is_covered = lock.deadline() <= node.ledger().recorded_deadline();
    if (!lock.has_deadline() || lock.is_over(now) || !(is_told || is_covered)) return;
    const std::int64_t left = (lock.deadline() - now).count();
    const std::int64_t rate = kMillion + scenario_.drift_millionths;
    owed_.push_back({.key = std::string(lock.key()),
                     .value = std::string(lock.value()),
                     .deadline = lock.deadline(),
                     .is_same_boot = true,
                     .until = agenda_.now() +
                              Duration(left / rate * kMillion + left % rate * kMillion / rate)});
  });
  note_turn(node, now);
  is_unsure_ = begun_at_ == kEndOfTime || end == End::unsure;
  is_steady_ = !is_unsure_ && !may_lag();
  paused_since_ = kEndOfTime;
  begun_at_ = kEndOfTime;
  is_other_boot_ = false;
  end_ = end;
}

// Whether it had no time yet to lower what the ledger tells.
bool Obligations::may_lag() const {
  if (lags_since_ == kEndOfTime) return false;
  const TrueTime could_lower = std::max({lags_since_, paused_until_, begun_at_});
  const TrueTime last_at_work = std::min(agenda_.now(), paused_since_);
  return last_at_work < could_lower + kLowerTime + 4 * scenario_.turn_max;
}

void Obligations::note_pause_end() {
  paused_since_ = kEndOfTime;
  paused_until_ = agenda_.now();
}

void Obligations::note_power_loss() {
  for (Owed& owed : owed_) owed.is_same_boot = false;
  is_other_boot_ = true;
  wait_end_.reset();
}

void Obligations::note_new_disk() {
  end_ = End::disk_lost;
  is_unsure_ = false;
  has_trouble_ = false;
}

void Obligations::check_start(const server::Decision& decision, server::Node& node, Instant start,
                              const SkewedClock& clock) {
  if (scenario_.clocks_hold) check_owed(decision, node, start, clock);
  if (scenario_.clocks_hold && !has_trouble_) {
    if (!is_unsure_) check_cause(decision);
    if (decision.cause == RestartCause::crash && is_steady_) check_wait(decision);
  }
  const Instant wait_end = std::max(decision.grant_from, decision.latest_deadline);
  wait_end_ = std::max(wait_end, wait_end_.value_or(wait_end));
  latest_ = {};
  lags_since_ = kEndOfTime;
}

bool Obligations::covers(const Owed& owed, Instant until, const SkewedClock& clock) const {
  if (owed.is_same_boot) return until >= owed.deadline;
  return clock.when(until, agenda_.now()) >= owed.until;
}

void Obligations::check_owed(const server::Decision& decision, server::Node& node, Instant start,
                             const SkewedClock& clock) {
  std::erase_if(owed_, [&](const Owed& owed) {
    return owed.until <= agenda_.now() || (owed.is_same_boot && owed.deadline <= start);
  });
  // A lock that is there again is the table's from here on.
  std::erase_if(owed_, [&](const Owed& owed) {
    const server::Lock* lock = node.locks().find(owed.key, start);
    return lock != nullptr && lock->value() == owed.value && covers(owed, lock->deadline(), clock);
  });
  for (const Owed& owed : owed_) {
    if (covers(owed, decision.grant_from, clock)) continue;
    referee_.found(Breach::forgotten,
                   fmt::format("node {} starts ({}) and may grant {} in {} ms, which it gave to "
                               "somebody who may rely on it for {} ms",
                               node_, server::restart_cause_name(decision.cause), owed.key,
                               ceil_ms(decision.delay), floor_ms(owed.until - agenda_.now())));
  }
}

void Obligations::check_cause(const server::Decision& decision) {
  const RestartCause crash =
      is_other_boot_ ? RestartCause::crash_of_another_boot : RestartCause::crash;
  const RestartCause expected = end_ == End::none        ? RestartCause::bootstrapped
                                : end_ == End::clean     ? RestartCause::clean_stop
                                : end_ == End::disk_lost ? RestartCause::ledger_missing
                                                         : crash;
  if (decision.cause == expected) return;
  referee_.found(Breach::misread, fmt::format("node {} starts, and takes {} for {}", node_,
                                              server::restart_cause_name(expected),
                                              server::restart_cause_name(decision.cause)));
}

void Obligations::check_wait(const server::Decision& decision) {
  const Instant needed = latest_to_wait_for();
  if (decision.grant_from <= std::max(needed, decision.grant_from - decision.delay)) return;
  referee_.found(Breach::misread,
                 fmt::format("node {} starts, and waits for {} ms after the last live lock", node_,
                             ceil_ms(decision.grant_from - needed)));
}

}  // namespace redlock::simulation
