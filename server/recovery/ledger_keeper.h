// LedgerKeeper: keeps the ledger ahead of what the node tells (rules R4, R5, R7, R8, F1, F6).
//
// Whatever the next start would have to know stands in the ledger before anybody outside knows it:
//
//   the latest deadline   written at once, as the page cache outlives the process: cover()
//   the largest TTL       durable, so a write takes the disk's time: want_ttl(), and whoever is to
//   the fencing bound     be told of it waits for the end of the write: want_bound(), want_fenced()
//
// The durable part is written by a shell, one record at a time, beside the loop:
//
//   if (auto record = keeper.begin_write(now)) …   // on a thread
//   keeper.end_write(written, now);                // then in force, or counted as not done (R7)
//
// Pure: no file, no clock. Thread safety: none.
// Invariant: recorded_deadline() and record() are never ahead of what the ledger holds.
#pragma once

#include "base/time.h"
#include "server/recovery/ledger.h"
#include <redlock/result.h>

#include <cstdint>
#include <optional>
#include <string>

namespace redlock::server {

class LedgerKeeper {
 public:
  // After a write that failed, whoever needs another one is refused for so long: a disk that is
  // full or broken is not asked at the rate of requests.
  static constexpr Duration kRefusalTime = 1s;
  // The largest TTL is lowered to what was granted within this time (rule R8).
  static constexpr Duration kTtlWindow = std::chrono::minutes(10);

  struct Start {
    DurableRecord record = {};     // in force
    Instant latest_deadline = {};  // what the volatile part holds
    Duration max_ttl = Duration::max();
    std::uint64_t fence_block = 1;
    Instant now = {};
    Duration ttl_window = kTtlWindow;
  };
  // page: outlives the keeper; nullptr: nothing outlives the node, and nothing needs to.
  LedgerKeeper(Start start, LatestDeadlinePage* page);

  // Whether anything outlives the node.
  bool is_kept() const { return page_ != nullptr; }

  // --- the latest deadline

  // No lock that anybody was told of has a later deadline.
  Instant recorded_deadline() const { return recorded_deadline_; }
  // Before anybody is told of a lock with this deadline (rule R4).
  Status cover(Instant deadline);
  // No live lock has a later one (rule R5). If it cannot be written a later one may stay: safe.
  void lower(Instant latest);

  // --- the durable bounds

  // In force. No lock that anybody was told of had longer to live.
  Duration largest_ttl() const { return largest_ttl_; }
  const DurableRecord& record() const { return in_force_; }
  void want_ttl(Duration ttl);
  // The fencing bound, up to what covers the token and two blocks more.
  void want_bound(std::uint64_t token);
  void want_fenced();
  void want_unfenced();
  // Nothing while another is wanted.
  void want_roster(const RosterRecord& roster);
  // Raises the fencing bound ahead of time, when less than half a block is left (rule F1).
  void stay_ahead(std::uint64_t largest_counter) {
    if (in_force_.fencing_bound - largest_counter < fence_block_ / 2) want_bound(largest_counter);
  }

  // Whether a write can be had now, or was refused by the disk a moment ago: the reason.
  std::optional<std::string_view> refusal(Instant now) const;

  bool wants_write() const { return wants_write_ && !writing_; }
  std::optional<DurableRecord> begin_write(Instant now);
  void end_write(const Status& written, Instant now);

  // --- lowering the largest TTL

  void note_ttl(Duration ttl) {
    if (ttl > longest_in_window_) longest_in_window_ = ttl;
  }
  // When end_window() wants to be called; nullopt: nothing was granted since the last one.
  std::optional<Instant> window_end() const {
    const bool may_lower = page_ != nullptr && longest_in_window_ > 0ns;
    return may_lower ? std::optional(window_end_) : std::nullopt;
  }
  // At the end of a window: lowers the bound in memory, and wants the file to follow.
  // longest_left: of all live locks.
  void end_window(Instant now, Duration longest_left);

 private:
  // What a TTL raises the bound to: the next power of two of milliseconds, at most max-ttl.
  Duration step_above(Duration ttl) const;

  LatestDeadlinePage* const page_;
  const Duration max_ttl_;
  const std::uint64_t fence_block_;
  const Duration ttl_window_;
  Instant recorded_deadline_;
  DurableRecord in_force_;
  DurableRecord wanted_;
  bool wants_write_ = false;  // wanted_ differs from in_force_
  std::optional<DurableRecord> writing_;
  Duration largest_ttl_;  // at most in_force_'s: lowered first in memory, then in the file
  Instant refused_until_{};
  std::string refusal_;
  Duration longest_in_window_{};
  Instant window_end_;
};

}  // namespace redlock::server
