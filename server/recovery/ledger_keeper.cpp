#include "server/recovery/ledger_keeper.h"

#include "base/invariant.h"
#include "server/locks/fence.h"
#include "server/locks/latest_deadline.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace redlock::server {

LedgerKeeper::LedgerKeeper(Start start, LatestDeadlinePage* page)
    : page_(page),
      max_ttl_(start.max_ttl),
      fence_block_(start.fence_block),
      ttl_window_(start.ttl_window),
      recorded_deadline_(start.latest_deadline),
      in_force_(std::move(start.record)),
      wanted_(in_force_),
      largest_ttl_(in_force_.largest_ttl),
      window_end_(later(start.now, ttl_window_)) {}

Status LedgerKeeper::cover(Instant deadline) {
  if (deadline <= recorded_deadline_) return Done{};
  const Instant rounded = round_up_to_tick(deadline);
  if (page_ != nullptr) {
    if (auto written = page_->write_latest_deadline(rounded); !written) return written;
  }
  recorded_deadline_ = rounded;
  return Done{};
}

// A write that failed may have been done in part: what stands there then is the old deadline, the
// new one or a later one, and so at least `latest`; no more is counted on.
void LedgerKeeper::lower(Instant latest) {
  if (latest >= recorded_deadline_) return;
  if (page_ != nullptr) static_cast<void>(page_->write_latest_deadline(latest));
  recorded_deadline_ = latest;
}

Duration LedgerKeeper::step_above(Duration ttl) const {
  const auto ms = static_cast<std::uint64_t>(ceil_ms(ttl));
  constexpr std::uint64_t kLastStep = std::uint64_t{1} << 43;  // in ns it still fits 63 bits
  if (ms > kLastStep) return std::max(ttl, max_ttl_);
  const Duration step = std::chrono::milliseconds(std::bit_ceil(ms));
  return std::max(ttl, std::min(step, max_ttl_));
}

void LedgerKeeper::want_ttl(Duration ttl) {
  wanted_.largest_ttl = std::max(wanted_.largest_ttl, step_above(ttl));
  wants_write_ = true;
}

// Twice a block, so that the next raise comes after one and a half of them: two syncs for each.
void LedgerKeeper::want_bound(std::uint64_t token) {
  const std::uint64_t room = std::min(2 * fence_block_, kTokenMax - std::min(token, kTokenMax));
  wanted_.fencing_bound = std::max(wanted_.fencing_bound, token + room);
  wants_write_ = true;
}

void LedgerKeeper::want_fenced() {
  wanted_.fenced = true;
  wants_write_ = true;
}

void LedgerKeeper::want_unfenced() {
  wanted_.fenced = false;
  wants_write_ = true;
}

void LedgerKeeper::want_roster(const RosterRecord& roster) {
  if (wanted_.roster != in_force_.roster) return;
  wanted_.roster = roster;
  wants_write_ = true;
}

std::optional<std::string_view> LedgerKeeper::refusal(Instant now) const {
  if (now >= refused_until_) return std::nullopt;
  return refusal_;
}

// A largest TTL that was lowered in memory, and is raised again before the file followed, or after
// the file could not be written, is written anew: somebody waits for it, and the file may be lower.
std::optional<DurableRecord> LedgerKeeper::begin_write(Instant now) {
  const bool is_in_force = wanted_ == in_force_ && wanted_.largest_ttl == largest_ttl_;
  if (writing_ || is_in_force || refusal(now)) return std::nullopt;
  writing_ = wanted_;
  return writing_;
}

// A raise that failed counts as not done, though the file may hold it: a bound that is too large is
// safe. Whoever still needs it wants it anew.
void LedgerKeeper::end_write(const Status& written, Instant now) {
  INVARIANT(writing_.has_value(), "the end of a write that nobody began");
  const DurableRecord record = *std::exchange(writing_, std::nullopt);
  if (!written) {
    refusal_ = written.error().text;
    refused_until_ = later(now, kRefusalTime);
    wanted_ = in_force_;
    wanted_.largest_ttl = largest_ttl_;
    wants_write_ = false;
    return;
  }
  INVARIANT(record.fencing_bound >= in_force_.fencing_bound, "a fencing bound that falls");
  in_force_ = record;
  largest_ttl_ = record.largest_ttl;
  wants_write_ = wanted_ != in_force_;
}

void LedgerKeeper::end_window(Instant now, Duration longest_left) {
  const Duration longest = std::max(std::exchange(longest_in_window_, 0ns), longest_left);
  window_end_ = later(now, ttl_window_);
  // A node that granted nothing keeps its bound: its next lock need not wait for the disk.
  if (longest == 0ns || writing_) return;
  const Duration lowered = step_above(longest);
  if (lowered >= largest_ttl_) return;
  largest_ttl_ = lowered;
  wanted_.largest_ttl = lowered;
  wants_write_ = true;
}

}  // namespace redlock::server
