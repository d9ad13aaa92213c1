#include "server/waiters.h"

#include "base/invariant.h"

namespace redlock::server {
namespace {

// Four tree nodes with what stands in them and what malloc adds; keys beside it.
constexpr std::size_t kBytesPerWait = 320;

std::size_t bytes_of(std::string_view key) {
  return key.size() + kBytesPerWait;
}

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
  if (kept.client != nullptr) kept.client->kept_bytes += bytes_of(kept.key);
  locks_.note_given_up(true);
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

// A key that the look itself finds to be over is given up by it: so until nothing comes any more.
void Waiters::look_again(Instant now) {
  while (locks_.has_given_up()) {
    locks_.take_given_up(given_up_);
    for (const std::uint32_t hash : given_up_) wake_all_of(hash, now);
  }
}

void Waiters::wake_all_of(std::uint32_t hash, Instant now) {
  auto next = by_key_.lower_bound({hash, 0});
  while (next != by_key_.end() && next->first == hash) {
    const Number number = (next++)->second;  // before it goes
    if (is_free(waits_.at(number), now)) wake(number, true);
  }
}

// The table is asked even now: the wheel may be behind with a lock that is over (rule C5).
void Waiters::time_out(Instant now) {
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    const Number number = by_deadline_.begin()->second;
    wake(number, is_free(waits_.at(number), now));
  }
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
  if (wait.client != nullptr) wait.client->kept_bytes -= bytes_of(wait.key);
  Wait removed = std::move(found->second);
  waits_.erase(found);
  if (waits_.empty()) locks_.note_given_up(false);
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
