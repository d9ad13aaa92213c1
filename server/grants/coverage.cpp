#include "server/grants/coverage.h"

#include "base/invariant.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Reply;

namespace {

// The ledger's latest deadline is lowered so often, at most (rule R5).
constexpr Duration kLowerInterval = 10ms;
// What a reply that waits for the disk may take, as there may be one for each client. That of a
// grant takes some bytes; only EXEC can have such a reply.
constexpr std::size_t kWithheldBytesMax = 1024 * 1024;

bool have_common_key(std::span<const std::string> some, std::span<const std::string> others) {
  return std::find_first_of(some.begin(), some.end(), others.begin(), others.end()) != some.end();
}

}  // namespace

void Coverage::thin_out(Instant now) {
  LockLookup& locks = parts_.grants.locks();
  KeyList& uncovered = parts_.grants.uncovered();
  uncovered.thin_out([&](const std::string& key) { return locks.find(key, now) != nullptr; });
  thin_out_at_ = std::max(kThinOutAt, 2 * uncovered.bytes());
  covered_early_ = 0;
}

Reply Coverage::record_deadlines(SessionId caller, Reply reply, Now now) {
  KeyList& uncovered = parts_.grants.uncovered();
  Reply recorded = record(caller, std::move(reply), uncovered.all(), now.monotonic);
  uncovered.clear();
  thin_out_at_ = kThinOutAt;
  covered_early_ = 0;
  return recorded;
}

void Coverage::cover_before_yield(Instant now) {
  const auto keys = parts_.grants.uncovered().all();
  const std::size_t from = covered_early_ > 0 ? covered_early_ - 1 : 0;  // its deadline may be new
  Instant latest{};
  for (const std::string& key : keys.subspan(from)) {
    const Lock* lock = parts_.grants.locks().find(key, now);
    if (lock != nullptr && lock->has_deadline()) latest = std::max(latest, lock->deadline());
  }
  covered_early_ = keys.size();
  const Instant in_bounds = later(now, parts_.ledger.largest_ttl());
  static_cast<void>(parts_.ledger.cover(std::min(latest, in_bounds)));
}

// The write takes a microsecond. Where a lock may live longer than any before, the bound must be
// durable first: its reply waits for the disk, and others go on (rule R8). Whoever looks meanwhile
// finds the lock held: that keeps others away, and gives nobody a validity, which counts from a
// grant's reply alone.
Reply Coverage::record(SessionId caller, Reply reply, std::span<const std::string> keys,
                       Instant now) {
  Instant latest{};
  Duration longest{};
  for (const std::string& key : keys) {
    const Lock* lock = parts_.grants.locks().find(key, now);
    if (lock == nullptr || !lock->has_deadline()) continue;
    latest = std::max(latest, lock->deadline());
    longest = std::max(longest, lock->deadline() - now);
  }
  if (longest > parts_.ledger.largest_ttl()) {
    if (const auto refusal = parts_.ledger.refusal(now)) return revoke(keys, *refusal, now);
    parts_.ledger.want_ttl(longest);
    const bool is_too_large = reply.memory_bytes() > kWithheldBytesMax;
    withheld_.push_back({caller,
                         is_too_large ? Reply::too_large() : reply.owned(),
                         {keys.begin(), keys.end()},
                         now});
    return Reply::later();
  }
  if (const Status covered = parts_.ledger.cover(latest); !covered) {
    parts_.client_log.log(ClientLog::Kind::ledger, LogLevel::warning,
                          fmt::format("no lock is granted or extended: {}", covered.error().text),
                          now);
    return revoke(keys, covered.error().text, now);
  }
  return reply;
}

// The ledger cannot be written, so nobody may be told of these locks: each ends no later than what
// the ledger covers. A lock that was told of before does not end earlier by it, as it was covered;
// a reply that is yet to tell of one must not go out.
Reply Coverage::revoke(std::span<const std::string> keys, std::string_view why, Instant now) {
  for (WithheldReply& withheld : withheld_) {
    if (have_common_key(withheld.keys, keys)) withheld.refusal = why;
  }
  for (const std::string& key : keys)
    parts_.grants.cut_short(key, parts_.ledger.recorded_deadline(), now);
  Reply refusal = Reply::error(
      fmt::format("ERR no lock is granted or extended, as the ledger cannot be written: {}", why));
  parts_.stats.count_error(refusal.text());
  return refusal;
}

bool Coverage::withholds_reply_of(SessionId session) const {
  return std::any_of(withheld_.begin(), withheld_.end(), [session](const WithheldReply& withheld) {
    return withheld.session == session;
  });
}

Coverage::Bound Coverage::ask_disk(Instant now) const {
  return parts_.ledger.refusal(now) ? Bound::disk_refuses : Bound::postpone;
}

Coverage::Bound Coverage::cover_token(std::uint64_t token, Instant now) {
  if (parts_.grants.fence().has_room_for(token)) return Bound::covers;
  parts_.ledger.want_bound(token);
  return ask_disk(now);
}

Coverage::Bound Coverage::cover_fenced(Instant now) {
  if (parts_.ledger.record().fenced) return Bound::covers;
  parts_.ledger.want_fenced();
  return ask_disk(now);
}

Coverage::Bound Coverage::cover_ttl(Duration ttl, Instant now) {
  if (parts_.ledger.largest_ttl() >= ttl) return Bound::covers;
  parts_.ledger.want_ttl(ttl);
  return ask_disk(now);
}

Coverage::Bound Coverage::cover_roster(const RosterRecord& roster, Instant now) {
  if (parts_.ledger.record().roster == roster) return Bound::covers;
  parts_.ledger.want_roster(roster);
  return ask_disk(now);
}

std::optional<DurableRecord> Coverage::begin_write(Instant now) {
  parts_.ledger.stay_ahead(parts_.grants.fence().largest());
  if (!parts_.ledger.wants_write()) return std::nullopt;
  return parts_.ledger.begin_write(now);
}

// All replies are settled before the first session goes on, as that may begin a script.
std::vector<LateReply> Coverage::finish_write(Now now) {
  INVARIANT(ended_write_.has_value(), "the end of a write that goes on");
  const Status written = *std::exchange(ended_write_, std::nullopt);
  parts_.ledger.end_write(written, now.monotonic);
  if (written) {
    parts_.grants.raise_bound(parts_.ledger.record().fencing_bound);
  } else {
    parts_.log.log(LogLevel::warning, written.error().text);
  }
  std::vector<LateReply> settled;
  const std::size_t due = withheld_.size();  // those behind them need another write
  for (std::size_t i = 0; i < due; ++i) {
    const SessionId session = withheld_[i].session;
    Reply reply = settle(std::move(withheld_[i]), written, now.monotonic);
    if (!reply.is(Reply::Kind::later)) settled.push_back({session, std::move(reply)});
  }
  withheld_.erase(withheld_.begin(), withheld_.begin() + static_cast<std::ptrdiff_t>(due));
  return settled;
}

// The keys are looked at again: they may be gone by now, or another's. Where they were revoked, the
// reply is refused, whatever is left of them.
Reply Coverage::settle(WithheldReply withheld, const Status& written, Instant now) {
  if (!withheld.refusal.empty()) return revoke(withheld.keys, withheld.refusal, now);
  if (!written) return revoke(withheld.keys, written.error().text, now);
  return record(withheld.session, std::move(withheld.reply), withheld.keys, withheld.executed_at);
}

void Coverage::lower(Instant now) {
  if (now < lower_from()) return;
  LatestDeadline& live = parts_.grants.latest_deadline();
  if (live.has_fallen()) {
    parts_.ledger.lower(live.find(now));
    lower_at_ = now + kLowerInterval;
  }
  const auto window_end = parts_.ledger.window_end();
  if (!window_end || now < *window_end) return;
  parts_.ledger.end_window(now, std::max<Duration>(live.find(now) - now, 0ns));
}

std::optional<Instant> Coverage::next_lower() const {
  if (parts_.grants.latest_deadline().has_fallen()) return lower_from();
  const auto window_end = parts_.ledger.window_end();
  if (!window_end) return std::nullopt;
  return std::max(*window_end, lower_from());
}

}  // namespace redlock::server
