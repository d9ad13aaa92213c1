// The node and its ledger: what it must cover before anybody is told (rules R4, R5, R8, F1).
#include "server/node/node.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Reply;
using protocol::Session;

namespace {

// The ledger's latest deadline is lowered so often, at most (rule R5).
constexpr Duration kLowerInterval = 10ms;
// What a reply that waits for the disk may take, as there may be one for each client. That of a
// grant takes some bytes; only EXEC can have such a reply.
constexpr std::size_t kHeldReplyBytesMax = 1024 * 1024;

bool have_common_key(std::span<const std::string> some, std::span<const std::string> others) {
  return std::find_first_of(some.begin(), some.end(), others.begin(), others.end()) != some.end();
}

}  // namespace

// A key without a deadline is outside every promise (rule L3).
void Node::note_deadline(std::string_view key, Instant deadline, Instant now) {
  if (deadline == kNever) return;
  const Duration left = deadline - now;
  stats_.max_ttl_granted = std::max(stats_.max_ttl_granted, left);
  ledger_.note_ttl(left);
  if (deadline > ledger_.told() || left > ledger_.largest_ttl()) uncovered_.add(key);
}

// A script, or an EXEC, can give the same locks later deadlines without end, and release them. What
// stays takes no more than the locks themselves.
void Node::thin_out_uncovered() {
  const Instant now = script_now_.monotonic;
  uncovered_.thin_out([&](const std::string& key) { return locks_.find(key, now) != nullptr; });
  thin_out_at_ = std::max(kThinOutAt, 2 * uncovered_.bytes());
  covered_early_ = 0;
}

Reply Node::settle_uncovered(Session::Id caller, Reply reply, Now now) {
  Reply settled = settle_deadlines(caller, std::move(reply), uncovered_.all(), now);
  uncovered_.clear();
  thin_out_at_ = kThinOutAt;
  covered_early_ = 0;
  return settled;
}

// A script that is suspended may have told of its locks by then: by PUBLISH, by a keyspace event,
// to a monitor. That goes out with this turn's bytes, so they are covered as they stand, as far as
// no bound has to be raised for it (rule R4). What its reply needs is settled at its end.
void Node::cover_early() {
  const auto keys = uncovered_.all();
  const std::size_t from = covered_early_ > 0 ? covered_early_ - 1 : 0;  // its deadline may be new
  Instant latest{};
  for (const std::string& key : keys.subspan(from)) {
    const Lock* lock = locks_.find(key, script_now_.monotonic);
    if (lock != nullptr && lock->has_deadline()) latest = std::max(latest, lock->deadline);
  }
  covered_early_ = keys.size();
  const Instant in_bounds = later(script_now_.monotonic, ledger_.largest_ttl());
  static_cast<void>(ledger_.cover(std::min(latest, in_bounds)));
}

// What the command, or the script, leaves behind is told to the ledger (rule R4): not what it set
// on the way, so that SETNX and PEXPIRE in one script tell of the second alone. The write takes a
// microsecond. Where a lock may live longer than any before, the bound must be durable first: its
// reply waits for the disk, and others go on (rule R8). Whoever looks meanwhile finds the lock
// held: that keeps others away, and gives nobody a validity, which counts from a grant's reply
// alone.
Reply Node::settle_deadlines(Session::Id caller, Reply reply, std::span<const std::string> keys,
                             Now now) {
  Instant latest{};
  Duration longest{};
  for (const std::string& key : keys) {
    const Lock* lock = locks_.find(key, now.monotonic);
    if (lock == nullptr || !lock->has_deadline()) continue;
    latest = std::max(latest, lock->deadline);
    longest = std::max(longest, lock->deadline - now.monotonic);
  }
  if (longest > ledger_.largest_ttl()) {
    const auto refusal = ledger_.refusal(now.monotonic);
    if (refusal) return pull_back(keys, *refusal, now.monotonic);
    ledger_.want_ttl(longest);
    const bool is_too_large = reply.memory_bytes() > kHeldReplyBytesMax;
    held_.push_back({caller,
                     is_too_large ? Reply::too_large() : reply.owned(),
                     {keys.begin(), keys.end()},
                     now.monotonic});
    return Reply::later();
  }
  if (const Status covered = ledger_.cover(latest); !covered) {
    client_log_.log(ClientLog::Kind::ledger, LogLevel::warning,
                    fmt::format("no lock is granted or extended: {}", covered.error().text),
                    now.monotonic);
    return pull_back(keys, covered.error().text, now.monotonic);
  }
  return reply;
}

// The ledger cannot be written, so nobody may be told of these locks: each ends no later than what
// the ledger covers. A lock that was told of before does not end earlier by it, as it was covered;
// a reply that is yet to tell of one must not go out.
Reply Node::pull_back(std::span<const std::string> keys, std::string_view why, Instant now) {
  for (HeldReply& held : held_) {
    if (have_common_key(held.keys, keys)) held.refusal = why;
  }
  for (const std::string& key : keys) {
    const Lock* lock = locks_.find(key, now);
    if (lock == nullptr || !lock->has_deadline() || lock->deadline <= ledger_.told()) continue;
    const bool is_over = ledger_.told() <= now;
    if (is_over) {
      locks_.erase(key, now);
    } else {
      locks_.set_deadline(key, ledger_.told(), now);
    }
    notify(kGenericEvent, is_over ? "del" : "expire", key);
  }
  Reply refusal = Reply::error(
      fmt::format("ERR no lock is granted or extended, as the ledger cannot be written: {}", why));
  stats_.count_error(refusal.text());
  return refusal;
}

std::optional<DurableRecord> Node::begin_ledger_write(Now now) {
  if (!has_begun_) return std::nullopt;
  ledger_.stay_ahead(fence_.largest());
  if (!ledger_.wants_write()) return std::nullopt;
  return ledger_.begin_write(now.monotonic);
}

void Node::end_ledger_write(const Status& written, Now now) {
  ended_write_ = written;
  settle_ended_write(now);
}

// Not in the middle of a script: a lock that is taken back may be one that it has looked at, or
// overwritten. All replies are settled before the first session goes on, as that may begin a
// script.
void Node::settle_ended_write(Now now) {
  if (suspended_ || !ended_write_) return;
  const Status written = *std::exchange(ended_write_, std::nullopt);
  ledger_.end_write(written, now.monotonic);
  if (written) {
    fence_.raise_bound(ledger_.record().fencing_bound);
  } else {
    world_.log.log(LogLevel::warning, written.error().text);
  }
  std::vector<LateReply> settled;
  const std::size_t due = held_.size();  // those behind them need another write
  for (std::size_t i = 0; i < due; ++i) {
    const Session::Id session = held_[i].session;
    settled.push_back({session, settle_held(std::move(held_[i]), written, now)});
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(due));
  look_at_notes(now.monotonic);
  for (const LateReply& late : settled) {
    if (late.reply.is(Reply::Kind::later)) continue;  // it needs another write
    if (Session* session = sessions_.find(late.session)) session->resume(late.reply, now, *this);
  }
  retry_postponed(now);
}

// The keys are looked at again: they may be gone by now, or another's. Where they were pulled back,
// the reply is refused, whatever is left of them.
Reply Node::settle_held(HeldReply held, const Status& written, Now now) {
  if (!held.refusal.empty()) return pull_back(held.keys, held.refusal, now.monotonic);
  if (!written) return pull_back(held.keys, written.error().text, now.monotonic);
  return settle_deadlines(held.session, std::move(held.reply), held.keys,
                          {held.executed_at, now.wall});
}

Node::Bound Node::ask_ledger(Now now) const {
  return ledger_.refusal(now.monotonic) ? Bound::disk_refuses : Bound::postpone;
}

Node::Bound Node::cover_token(std::uint64_t token, Now now) {
  if (fence_.has_room_for(token)) return Bound::covers;
  ledger_.want_bound(token);
  return ask_ledger(now);
}

Node::Bound Node::cover_fenced(Now now) {
  if (ledger_.record().fenced) return Bound::covers;
  ledger_.want_fenced();
  return ask_ledger(now);
}

// Rules R5 and R8. Not before what an earlier run is owed is over: lower_at_ begins there. Nor
// while the start still writes to the ledger, on a thread of its own: until begin_run().
void Node::lower_ledger(Instant now) {
  if (!has_begun_ || now < lower_at_) return;
  if (locks_.latest_deadline().has_fallen()) {
    ledger_.lower(locks_.latest_deadline().find(now));
    lower_at_ = now + kLowerInterval;
  }
  const auto window_end = ledger_.window_end();
  if (!window_end || now < *window_end) return;
  const Instant latest = locks_.latest_deadline().find(now);
  ledger_.end_window(now, std::max<Duration>(latest - now, 0ns));
}

}  // namespace redlock::server
