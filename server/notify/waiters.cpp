#include "server/notify/waiters.h"

#include "base/invariant.h"

#include <algorithm>

namespace redlock::server {
namespace {

// Four tree nodes with what stands in them and what malloc adds; keys beside it.
constexpr std::size_t kBytesPerWait = 320;

std::size_t bytes_of_wait(std::string_view key) {
  return key.size() + kBytesPerWait;
}

// Of a piece: a look at a hash is one step, and whoever is woken and told so many. Some 3 ms.
constexpr std::size_t kStepsOfLook = 4096;
constexpr std::size_t kStepsOfWake = 8;

}  // namespace

bool Waiters::arm(Wait wait) {
  cancel(wait.session, wait.form, wait.key);
  const auto known = by_session_.find(wait.session);
  if (known != by_session_.end() && known->second.size() >= kWaitsPerSessionMax) return false;
  wait.hash = locks_.hash_of(wait.key);
  const Number number = ++last_number_;
  const Wait& kept = waits_.emplace(number, std::move(wait)).first->second;
  by_session_[kept.session].emplace(std::pair(kept.form, std::string_view(kept.key)), number);
  by_key_.emplace(kept.hash, number);
  by_deadline_.emplace(kept.deadline, number);
  key_bytes_ += kept.key.size();
  if (kept.client != nullptr) kept.client->kept_bytes += bytes_of_wait(kept.key);
  locks_.notes().want(KeyNotes::given_up, true);
  return true;
}

void Waiters::cancel(SessionId session, Form form, std::string_view key) {
  std::erase_if(wakes_, [&](const Wake& wake) {
    return wake.session == session && wake.form == form && wake.key == key;
  });
  const auto known = by_session_.find(session);
  if (known == by_session_.end()) return;
  const auto wait = known->second.find({form, key});
  if (wait != known->second.end()) remove(wait->second);
}

void Waiters::forget(SessionId session) {
  std::erase_if(wakes_, [&](const Wake& wake) { return wake.session == session; });
  for (auto known = by_session_.find(session); known != by_session_.end();
       known = by_session_.find(session)) {
    remove(known->second.begin()->second);
  }
}

// Where others are to be looked at already, those come first, in go_on(): else each command would
// do a piece of this work. As many as are new are looked at all the same,
// so that it comes to an end.
void Waiters::look_again(Instant now) {
  const bool is_behind = has_more();
  take_given_up();
  look_at_some(now, is_behind ? std::min(2 * new_given_up_.size(), kStepsOfLook) : kStepsOfLook);
}

void Waiters::take_given_up() {
  locks_.notes().take_given_up(new_given_up_);
  given_up_.insert(given_up_.end(), new_given_up_.begin(), new_given_up_.end());
}

// A key that the look itself finds to be over is given up by it.
void Waiters::look_at_some(Instant now, std::size_t steps_max) {
  for (std::size_t steps = 0; has_more() && steps < steps_max; ++steps) {
    if (!wake_all_of(given_up_.front(), now, steps, steps_max)) return;
    if (has_more()) given_up_.pop_front();  // the last wake forgets them all
    if (locks_.notes().has_given_up()) take_given_up();
  }
}

// False: the piece is at its end before all of them. Whoever waits on is no step of it, or it could
// have no end.
bool Waiters::wake_all_of(std::uint32_t hash, Instant now, std::size_t& steps,
                          std::size_t steps_max) {
  auto next = by_key_.lower_bound({hash, 0});
  while (next != by_key_.end() && next->first == hash) {
    if (steps >= steps_max) return false;
    const Number number = (next++)->second;  // before it goes
    if (!is_free(waits_.at(number), now)) continue;
    wake(number, true);
    steps += kStepsOfWake;
  }
  return true;
}

// The table is asked even now: the wheel may be behind with a lock that is over (rule C5).
void Waiters::go_on(Instant now) {
  look_at_some(now, kStepsOfLook);
  for (std::size_t steps = 0;
       !by_deadline_.empty() && by_deadline_.begin()->first <= now && steps < kStepsOfLook;
       steps += kStepsOfWake) {
    const Number number = by_deadline_.begin()->second;
    wake(number, is_free(waits_.at(number), now));
  }
}

std::size_t Waiters::count_of(SessionId session) const {
  const auto known = by_session_.find(session);
  return known == by_session_.end() ? 0 : known->second.size();
}

std::optional<Instant> Waiters::next_deadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

void Waiters::wake(Number number, bool is_free) {
  Wait wait = remove(number);
  wakes_.push_back({wait.session, wait.form, std::move(wait.key), is_free});
}

Waiters::Wait Waiters::remove(Number number) {
  const auto found = waits_.find(number);
  INVARIANT(found != waits_.end(), "a wait that stands in an index only");
  const Wait& wait = found->second;
  by_key_.erase({wait.hash, number});
  by_deadline_.erase({wait.deadline, number});
  const auto of_session = by_session_.find(wait.session);
  of_session->second.erase({wait.form, wait.key});
  if (of_session->second.empty()) by_session_.erase(of_session);
  key_bytes_ -= wait.key.size();
  if (wait.client != nullptr) wait.client->kept_bytes -= bytes_of_wait(wait.key);
  Wait removed = std::move(found->second);
  waits_.erase(found);
  if (waits_.empty()) {
    locks_.notes().want(KeyNotes::given_up, false);
    given_up_.clear();
  }
  return removed;
}

std::size_t Waiters::bytes() const {
  return waits_.size() * kBytesPerWait + key_bytes_;
}

void push_wake(protocol::Session& session, std::string key, bool is_free) {
  if (session.version() != protocol::Version::resp3) return;
  using protocol::Reply;
  Reply message = Reply::push({});
  message.add(Reply::bulk_view("lock.free"))
      .add(Reply::bulk(std::move(key)))
      .add(Reply::integer(is_free ? 1 : 0));
  session.tell(message, 0);
}

}  // namespace redlock::server
