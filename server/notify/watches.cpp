#include "server/notify/watches.h"

namespace redlock::server {

using protocol::Session;

namespace {

// Two tree nodes with what stands in them and what malloc adds; keys beside it.
constexpr std::size_t kBytesPerWatch = 160;

std::size_t bytes_of_watch(std::string_view key) {
  return key.size() + kBytesPerWatch;
}

}  // namespace

// A session whose transaction cannot succeed any more needs no further watch.
bool Watches::add(Session& session, std::string_view key, Instant now) {
  locks_.find(key, now);
  look_at_changed();
  if (session.watch_is_broken) return true;
  Watched& watched = by_session_.try_emplace(session.id(), Watched{session, {}, 0}).first->second;
  if (watched.keys.contains(key)) return true;
  if (watched.bytes + bytes_of_watch(key) > kWatchedBytesMax) return false;
  watched.keys.emplace(key);
  by_hash_.emplace(locks_.hash_of(key), session.id());
  watched.bytes += bytes_of_watch(key);
  bytes_ += bytes_of_watch(key);
  session.kept_bytes += bytes_of_watch(key);
  session.watched_keys = static_cast<std::uint32_t>(watched.keys.size());
  locks_.notes().want(KeyNotes::changed, true);
  return true;
}

void Watches::forget(Session& session) {
  session.watch_is_broken = false;
  const auto known = by_session_.find(session.id());
  if (known == by_session_.end()) return;
  drop_keys(known->second);
  by_session_.erase(known);
}

void Watches::drop_keys(Watched& watched) {
  for (const std::string& key : watched.keys) {
    by_hash_.erase({locks_.hash_of(key), watched.session.id()});
  }
  bytes_ -= watched.bytes;
  watched.session.kept_bytes -= watched.bytes;
  watched.bytes = 0;
  watched.keys.clear();
  watched.session.watched_keys = 0;
  if (by_hash_.empty()) locks_.notes().want(KeyNotes::changed, false);
}

void Watches::find_broken() {
  locks_.notes().take_changed(changed_);
  for (const std::uint32_t hash : changed_) {
    auto next = by_hash_.lower_bound({hash, 0});
    while (next != by_hash_.end() && next->first == hash) {
      const auto known = by_session_.find(next->second);
      known->second.session.watch_is_broken = true;
      drop_keys(known->second);
      by_session_.erase(known);
      next = by_hash_.lower_bound({hash, 0});  // what it stood at is gone
    }
  }
}

// Asking for a key that is over gives it back, which is a change (rule C5).
bool Watches::is_broken(const Session& session, Instant now) {
  const auto known = by_session_.find(session.id());
  if (known != by_session_.end()) {
    for (const std::string& key : known->second.keys) locks_.find(key, now);
  }
  look_at_changed();
  return session.watch_is_broken;
}

}  // namespace redlock::server
