#include "server/grants/grants.h"

#include "base/invariant.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Refusal;
using protocol::Reply;

namespace {

// A lock that its holder was told of already, before this node puts it into its table.
constexpr bool kExtended = true;

}  // namespace

Grants::Grants(Parts parts)
    : start_(parts.start),
      settings_(parts.settings),
      ledger_(parts.ledger),
      events_(parts.events),
      stats_(parts.stats),
      table_(start_.hash_seed, settings_.max_ttl),
      marks_(start_.hash_seed, start_.release_marks),
      fence_(start_.fence),
      grant_from_(start_.grant_from),
      admit_from_(start_.admit_from),
      snapshot_from_(start_.snapshot_from) {}

Duration Grants::own_max_ttl() const {
  const Duration own = holder_->limits().max_ttl;
  return own > 0ns ? std::min(own, settings_.max_ttl) : settings_.max_ttl;
}

Refusal Grants::refuse_more(std::span<const std::string_view> keys, Instant now) {
  const std::uint64_t most = holder_->limits().max_locks;
  if (most == 0) return {};
  const std::size_t count = quotas_.count(holder_->name(), now);
  std::set<std::string_view> added(keys.begin(), keys.end());
  std::erase_if(added, [&](auto key) { return quotas_.is_of(holder_->name(), key); });
  if (added.empty() || count + added.size() <= most) return {};
  return Reply::error(too_many_locks_text(most));
}

void Grants::change_owner(std::string_view key, Instant deadline) {
  const bool counts = holder_ != nullptr && holder_->limits().max_locks > 0;
  if (counts) {
    quotas_.take(holder_->name(), key, deadline);
  } else {
    note_end(key);
  }
}

Refusal Grants::refuse(Instant now) {
  if (!clock_.is_sound()) {
    return Reply::error(fmt::format(
        "ERR this node's clock {}: no lock is granted or extended until the node is restarted",
        clock_.text()));
  }
  if (!is_recovering(now)) return {};
  ++stats_.refused_recovering;
  return Reply::error(fmt::format("ERR recovering after a restart, no new locks for {} ms",
                                  ceil_ms(delay_left(now))));
}

bool Grants::may_grant(Instant now) const {
  return clock_.is_sound() && !is_recovering(now);
}

Duration Grants::delay_left(Instant now) const {
  return is_recovering(now) ? grant_from_ - now : Duration::zero();
}

const Lock* Grants::grant(std::string_view key, std::string_view value, Instant deadline,
                          Instant now, std::string_view label) {
  INVARIANT(may_grant(now), "a grant that refuse() would have refused");
  const Lock* old = table_.find(key, now);
  const bool is_extension = old != nullptr && old->holds(value);
  ++(is_extension ? stats_.extended : stats_.granted);
  const bool is_new = old == nullptr;
  const Lock* lock = put(key, value, deadline, is_extension ? old->token() : fence_.grant(key), now,
                         LockKind::text, {label, now});
  if (!is_extension && lock != nullptr) note_owner(key, deadline);
  if (is_new) tell_new(lock, key);
  return lock;
}

const Lock* Grants::grant_hash(std::string_view key, std::string_view packed, Instant deadline,
                               Instant now) {
  INVARIANT(may_grant(now), "a grant that refuse() would have refused");
  ++stats_.granted;
  const Lock* lock = put(key, packed, deadline, fence_.grant(key), now, LockKind::hash);
  if (lock != nullptr) note_owner(key, deadline);
  tell_new(lock, key);
  return lock;
}

const Lock* Grants::grant_without_ttl(std::string_view key, std::string_view value, Instant now,
                                      LockKind kind) {
  const bool imposes = requires_ttl();
  const Instant deadline = imposes ? later(now, max_ttl()) : kNever;
  const bool is_hash = kind == LockKind::hash;
  const Lock* lock =
      is_hash ? grant_hash(key, value, deadline, now) : grant(key, value, deadline, now);
  if (lock != nullptr && imposes) imposed_ttls_.emplace(key);
  return lock;
}

void Grants::grant_in_the_past(std::string_view key, Instant now) {
  if (table_.find(key, now) == nullptr) {
    events_.tell(kNewKeyEvent, "new", key, clock_.latest());
    table_.notes().add_change(table_.hash_of(key));
  }
  table_.erase(key, now);
  note_end(key);
}

const Lock* Grants::top_up(std::string_view key, std::string_view value, Instant deadline,
                           std::uint64_t token, Instant now, std::string_view label) {
  INVARIANT(may_grant(now), "a top-up that refuse() would have refused");
  INVARIANT(table_.find(key, now) == nullptr, "a top-up of a lock that is there");
  ++stats_.granted;
  const Lock* lock = put(key, value, deadline, token > 0 ? token : fence_.grant(key), now,
                         LockKind::text, {label, now}, kExtended);
  if (lock != nullptr) note_owner(key, deadline);
  tell_new(lock, key);
  return lock;
}

const Lock* Grants::replace(std::string_view key, std::string_view value, Instant deadline,
                            Instant now) {
  INVARIANT(may_grant(now), "a replacement that refuse() would have refused");
  const Lock* old = table_.find(key, now);
  INVARIANT(old != nullptr && !old->is_hash(), "a replacement of a lock that is not there");
  ++stats_.extended;
  const LockLabel label = old->label();
  const std::string text(label.text);  // the record may be written in the same place
  return put(key, value, deadline, old->token(), now, LockKind::text, {text, label.since},
             kExtended);
}

void Grants::extend(std::string_view key, Instant deadline, Instant now) {
  INVARIANT(may_grant(now), "an extension that refuse() would have refused");
  table_.set_deadline(key, deadline, now);
  if (!quotas_.is_empty()) quotas_.move(key, deadline);
  ++stats_.extended;
  note_deadline(key, deadline, now);
}

Refusal Grants::move_deadline(std::string_view key, Instant deadline, Instant now) {
  if (deadline <= now) {
    release(key, now);
    return {};
  }
  if (Refusal no = refuse(now)) return no;
  extend(key, deadline, now);
  note_own_ttl(key);
  events_.tell(kGenericEvent, "expire", key, clock_.latest());
  return {};
}

Refusal Grants::take_deadline_away(std::string_view key, Instant now) {
  const Lock* lock = table_.find(key, now);
  INVARIANT(lock != nullptr, "PERSIST of a lock that is not there");
  if (!lock->has_deadline()) return {};
  if (requires_ttl()) {
    return needs_ttl(
        fmt::format("{} has one and keeps it; use PEXPIRE to extend it instead of PERSIST to take "
                    "it away",
                    key_in_text(key)));
  }
  if (Refusal no = refuse(now)) return no;
  extend(key, kNever, now);
  events_.tell(kGenericEvent, "persist", key, clock_.latest());
  return {};
}

const Lock* Grants::change_hash(std::string_view key, std::string_view packed, Instant now) {
  const Lock* old = table_.find(key, now);
  INVARIANT(old != nullptr && old->is_hash(), "a change to a hash that is not there");
  return put(key, packed, old->deadline(), old->token(), now, LockKind::hash);
}

const Lock* Grants::put(std::string_view key, std::string_view value, Instant deadline,
                        std::uint64_t token, Instant now, LockKind kind, const LockLabel& label,
                        bool is_extended) {
  const Lock* lock = table_.put(key, value, deadline, token, now, kind, label, is_extended);
  if (lock != nullptr) note_deadline(key, deadline, now);
  if (!quotas_.is_empty()) quotas_.move(key, deadline);
  return lock;
}

// A key without a deadline is outside every promise (rule L3).
void Grants::note_deadline(std::string_view key, Instant deadline, Instant now) {
  if (deadline == kNever) return;
  const Duration left = deadline - now;
  stats_.max_ttl_granted = std::max(stats_.max_ttl_granted, left);
  ledger_.note_ttl(left);
  if (deadline > ledger_.recorded_deadline() || left > ledger_.largest_ttl()) uncovered_.add(key);
}

bool Grants::release(std::string_view key, Instant now) {
  if (!table_.erase(key, now)) return false;
  note_end(key);
  ++stats_.released;
  events_.tell(kGenericEvent, "del", key, clock_.latest());
  return true;
}

void Grants::release_all() {
  stats_.released += table_.size();
  table_.clear();
  quotas_.clear();
}

void Grants::cut_short(std::string_view key, Instant end, Instant now) {
  const Lock* lock = table_.find(key, now);
  if (lock == nullptr || !lock->has_deadline() || lock->deadline() <= end) return;
  if (end <= now) {
    table_.erase(key, now);
  } else {
    table_.set_deadline(key, end, now);
  }
  if (!quotas_.is_empty()) quotas_.move(key, end);
  events_.tell(kGenericEvent, end <= now ? "del" : "expire", key, clock_.latest());
}

LockTable::Reclaimed Grants::reclaim(Instant now, std::size_t budget) {
  const LockTable::Reclaimed reclaimed = table_.reclaim(now, budget);
  marks_.reclaim(now);
  return reclaimed;
}

std::optional<Instant> Grants::next_reclaim() const {
  return earlier(table_.next_reclaim(), marks_.next_reclaim());
}

void Grants::set_token(std::string_view key, std::uint64_t token) {
  reach(key, token);
  table_.set_token(key, token);
}

void Grants::join(Instant end) {
  for (Instant* from : {&grant_from_, &admit_from_, &snapshot_from_}) *from = std::max(*from, end);
}

void Grants::admit(std::uint64_t floor) {
  fence_.reach_everywhere(floor);
  fence_.set_fenced(true);
}

// Whoever still believes in the lock, and would extend it, is past its validity by then.
void Grants::mark_released(std::string_view key, std::string_view value, Instant now) {
  const Duration length = stretch(settings_.max_ttl, settings_.clock_drift);
  marks_.add(key, value, later(now, length));
}

void Grants::forget_imposed_ttl(std::string_view key) {
  if (const auto imposed = imposed_ttls_.find(key); imposed != imposed_ttls_.end()) {
    imposed_ttls_.erase(imposed);
  }
}

// The snapshot does not tell whether a lock was extended: it counts as one that was, so that no
// undo takes it from its holder (rule D5).
bool Grants::restore(const SavedLock& saved) {
  return table_.put(saved.key, saved.value, saved.deadline, saved.token, start_.started_at,
                    saved.kind, saved.label, kExtended) != nullptr;
}

void Grants::save(Instant copied_at, const SavedLockVisitor& keep,
                  const SavedMarkVisitor& mark) const {
  table_.for_each([&](const Lock& lock) {
    if (lock.is_over(copied_at)) return;
    keep({lock.key(), lock.value(), lock.deadline(), lock.token(), lock.kind(), lock.label()});
  });
  marks_.save(copied_at, mark);
}

}  // namespace redlock::server
