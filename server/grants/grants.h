// Grants: every lock that this node gives, extends or ends.
//
// The only class with a lock table that can be changed: everybody else has locks(), to look. So a
// lock is granted in one place, and only past refuse(): not while the node is recovering (rule
// R10), not with a clock that went wrong (C3), never for longer than max-ttl (L1, which whoever
// reads a TTL sees to). Deadlines count from `now`, the instant of the request, read after its last
// byte (C4).
//
//   if (Refusal no = grants.refuse(now)) return no;
//   if (grants.grant(key, value, deadline, now) == nullptr) return Reply::error_view(kNoMemory);
//
// A deadline that the ledger may not cover yet is kept in uncovered(): Coverage makes it durable
// before anybody is told (rule R4).
//
// Pure. Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/access/user.h"
#include "protocol/resp/refusal.h"
#include "server/grants/clock_watch.h"
#include "server/grants/key_list.h"
#include "server/grants/lock_quotas.h"
#include "server/grants/refusals.h"
#include "server/locks/fence.h"
#include "server/locks/lock_table.h"
#include "server/locks/release_marks.h"
#include "server/notify/keyspace_events.h"
#include "server/observe/stats.h"
#include "server/recovery/ledger_keeper.h"
#include "server/recovery/node_start.h"
#include "server/recovery/snapshot.h"
#include "server/settings/settings.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::server {

class Grants {
 public:
  // All outlive it; `events` and `ledger` are used only once it is made.
  struct Parts {
    const NodeStart& start;
    const Settings& settings;
    LedgerKeeper& ledger;
    KeyspaceEvents& events;
    Stats& stats;
  };
  explicit Grants(Parts parts);
  Grants(const Grants&) = delete;
  Grants& operator=(const Grants&) = delete;

  LockLookup& locks() { return table_; }
  const LockLookup& locks() const { return table_; }

  // --- for whom

  // Whose command is under way, if he may not do just anything; nullptr: somebody who may.
  // Returns who it was before.
  const protocol::User* set_holder(const protocol::User* holder) {
    return std::exchange(holder_, holder);
  }
  // What a TTL may come to: max-ttl, or the user's own if that is shorter.
  Duration max_ttl() const { return holder_ == nullptr ? settings_.max_ttl : own_max_ttl(); }
  bool requires_ttl() const {
    return settings_.require_ttl || (holder_ != nullptr && holder_->limits().max_ttl > 0ns);
  }

  // --- why there is no grant

  // Why no lock may be granted or extended at this moment. Every command that makes a key or moves
  // a deadline asks.
  protocol::Refusal refuse(Instant now);
  // The same before a lock is made, or taken over, or several together: its user may have as many
  // as he may (max-locks). What is his already adds none.
  protocol::Refusal refuse(std::string_view key, Instant now) { return refuse({&key, 1}, now); }
  protocol::Refusal refuse(std::span<const std::string_view> keys, Instant now) {
    if (protocol::Refusal no = refuse(now)) return no;
    return holder_ == nullptr ? protocol::Refusal() : refuse_more(keys, now);
  }
  bool is_recovering(Instant now) const { return now < grant_from_; }
  // It does not recover, and its clock is sound.
  bool may_grant(Instant now) const;
  Duration delay_left(Instant now) const;
  // Before it the node is recovering; is not admitted, if it is unfenced (rule F7); and leaves no
  // snapshot when it stops (rule R3).
  Instant grant_from() const { return grant_from_; }
  Instant admit_from() const { return admit_from_; }
  Instant snapshot_from() const { return snapshot_from_; }
  // It joins a group, as a node does that lost its ledger:
  // it recovers until `end` at least (rule G2).
  void join(Instant end);
  // A recovering node answers SET … NX in restart-reply held with nil, so that libraries which give
  // up on any error ask the other nodes too (rule R10). A script is told what it would be of a lock
  // that another holds.
  bool answers_held(Instant now) const {
    return settings_.restart_reply == RestartReply::held && is_recovering(now);
  }
  // Key or value is longer than is taken. Asked first by every command that puts a value
  // under a key; a hash is measured as a whole, when it is packed.
  protocol::Refusal refuse_size(std::string_view key, std::string_view value = {}) const {
    const std::uint64_t value_max = settings_.value_size_limit;
    if (key.size() > kKeyBytesMax) return key_too_long(key);
    if (value.size() > value_max) return value_too_large("value", value.size(), value_max);
    return {};
  }

  // --- grants and extensions. REQUIRES of each: refuse(now) let it pass.

  // A key gets another value (rule L4), or the same with another deadline. The same value keeps its
  // token. nullptr: no memory for it.
  // label: who its new holder is; empty: not told. It is kept as long as the value is.
  const Lock* grant(std::string_view key, std::string_view value, Instant deadline, Instant now,
                    std::string_view label = {});
  // The same without a TTL of its own: the key gets max-ttl where TTLs are required (rule L2). Of a
  // hash the value is its packed fields (packed_hash.h). REQUIRES: there is no such lock if it is
  // to be a hash.
  const Lock* grant_without_ttl(std::string_view key, std::string_view value, Instant now,
                                LockKind kind = LockKind::text);
  // SET with a deadline that has passed: what was under the key is gone, and whoever watches the
  // key sees a change.
  void grant_in_the_past(std::string_view key, Instant now);
  // Takes back what grant() has just given, before anybody was told.
  void undo_grant(std::string_view key, Instant now) {
    table_.erase(key, now);
    note_end(key);
  }
  // A lock that its holder brings to this node with its token; 0: it has none (rules Q4, F5).
  // REQUIRES: there is no such lock.
  const Lock* top_up(std::string_view key, std::string_view value, Instant deadline,
                     std::uint64_t token, Instant now, std::string_view label = {});
  // The same holder by another value: token and label stay (rule D9). nullptr: no memory for it.
  // REQUIRES: there is such a lock, and it is no hash.
  const Lock* replace(std::string_view key, std::string_view value, Instant deadline, Instant now);
  // The same value, another deadline; kNever takes it away. REQUIRES: there is such a lock.
  void extend(std::string_view key, Instant deadline, Instant now);
  // A deadline of a command's own (EXPIRE, GETEX). One that has passed gives the lock back, which
  // is never refused, and asks refuse() itself otherwise. REQUIRES: there is such a lock.
  protocol::Refusal move_deadline(std::string_view key, Instant deadline, Instant now);
  // PERSIST. REQUIRES: there is such a lock; asks refuse() itself.
  protocol::Refusal take_deadline_away(std::string_view key, Instant now);
  // Other fields in a hash that is there: no new holder, so deadline and token stay. nullptr: no
  // memory for it. REQUIRES: there is such a hash; fields that are only taken away are a release,
  // for which refuse() needs not be asked.
  const Lock* change_hash(std::string_view key, std::string_view packed, Instant now);

  // --- ends

  // False when there is no such lock.
  bool release(std::string_view key, Instant now);
  void release_all();
  // The lock ends at `end` at the latest: nobody may be told of more (rule R4). No lock that is not
  // there, or ends before, is changed.
  void cut_short(std::string_view key, Instant end, Instant now);
  // Gives back locks that ran out, in so many steps at most, and marks that did.
  LockTable::Reclaimed reclaim(Instant now, std::size_t budget);
  std::optional<Instant> next_reclaim() const;
  // When the last of the live locks will be over.
  LatestDeadline& latest_deadline() { return table_.latest_deadline(); }
  const LatestDeadline& latest_deadline() const { return table_.latest_deadline(); }

  // --- tokens (rules F)

  const Fence& fence() const { return fence_; }
  // The key's counter reaches the token of a lock that may be topped up here, or is extended (rule
  // F5). REQUIRES: the fencing bound covers it.
  void reach(std::string_view key, std::uint64_t token) { fence_.reach(key, token); }
  // The same, and it is this lock's token from now on (rule F3). REQUIRES: there is such a lock.
  void set_token(std::string_view key, std::uint64_t token);
  // The same for every key: no token that was given is larger (rule F9).
  void reach_everywhere(std::uint64_t floor) { fence_.reach_everywhere(floor); }
  // With that the node is fenced (rules F6, F9). REQUIRES: the bound is durable; a mark that is not
  // is lost with a crash.
  void admit(std::uint64_t floor);
  // Other nodes have given tokens that nobody told this one of: it counts, and proposes none.
  void unfence() { fence_.set_fenced(false); }
  // REQUIRES: durable.
  void raise_bound(std::uint64_t bound) { fence_.raise_bound(bound); }

  // --- releases for good (rule Q3)

  const ReleaseMarks& release_marks() const { return marks_; }
  // For as long as anybody can still believe in the lock (rule Q2).
  void mark_released(std::string_view key, std::string_view value, Instant now);
  bool is_released(std::string_view key, std::string_view value, Instant now) const {
    return marks_.has(key, value, now);
  }

  // --- TTLs that nobody asked for (rule L2)

  // Such a key counts unless the same call, or the script around it, gives it a TTL of its own.
  void note_own_ttl(std::string_view key) {
    if (!imposed_ttls_.empty()) forget_imposed_ttl(key);
  }
  void count_imposed_ttls() {
    if (imposed_ttls_.empty()) return;
    stats_.ttl_imposed += imposed_ttls_.size();
    imposed_ttls_.clear();
  }

  // --- what the ledger must hold

  // Keys that got a deadline which the ledger may not cover; Coverage empties the list.
  KeyList& uncovered() { return uncovered_; }
  const KeyList& uncovered() const { return uncovered_; }

  // --- from run to run (rule R9)

  // A lock of the last run, or a mark. False: no memory for it. REQUIRES: nothing was granted yet.
  bool restore(const SavedLock& saved);
  void restore(const SavedMark& saved) { marks_.restore(saved); }
  void save(Instant copied_at, const SavedLockVisitor& keep, const SavedMarkVisitor& mark) const;

  // Fed with each turn's reading of the clock.
  void observe_clock(Instant now) { clock_.observe(now); }
  const ClockWatch& clock() const { return clock_; }

 private:
  const Lock* grant_hash(std::string_view key, std::string_view packed, Instant deadline,
                         Instant now);
  // lock: nullptr when there was no memory for it.
  void tell_new(const Lock* lock, std::string_view key) {
    if (lock != nullptr) events_.tell(kNewKeyEvent, "new", key, clock_.latest());
  }
  const Lock* put(std::string_view key, std::string_view value, Instant deadline,
                  std::uint64_t token, Instant now, LockKind kind = LockKind::text,
                  const LockLabel& label = {}, bool is_extended = false);
  void note_deadline(std::string_view key, Instant deadline, Instant now);
  void forget_imposed_ttl(std::string_view key);
  Duration own_max_ttl() const;
  protocol::Refusal refuse_more(std::span<const std::string_view> keys, Instant now);
  // What its user took counts for him, whoever had the key before.
  void note_owner(std::string_view key, Instant deadline) {
    if (holder_ != nullptr || !quotas_.is_empty()) change_owner(key, deadline);
  }
  void change_owner(std::string_view key, Instant deadline);
  void note_end(std::string_view key) {
    if (!quotas_.is_empty()) quotas_.end(key);
  }

  const NodeStart& start_;
  const Settings& settings_;
  LedgerKeeper& ledger_;
  KeyspaceEvents& events_;
  Stats& stats_;
  LockTable table_;
  ReleaseMarks marks_;
  Fence fence_;
  ClockWatch clock_;
  LockQuotas quotas_;
  const protocol::User* holder_ = nullptr;
  Instant grant_from_;
  Instant admit_from_;
  Instant snapshot_from_;
  KeyList uncovered_;
  std::set<std::string, std::less<>> imposed_ttls_;  // keys of the call under way; EXEC's are many
};

}  // namespace redlock::server
