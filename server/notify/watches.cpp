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
  Watched& watched = by_session_[session.id()];
  if (watched.keys.contains(key)) return true;
  if (watched.bytes + bytes_of_watch(key) > kWatchedBytesMax) return false;
  watched.keys.emplace(key);
  by_hash_[locks_.hash_of(key)].push_back(&session);
  watched.bytes += bytes_of_watch(key);
  bytes_ += bytes_of_watch(key);
  session.kept_bytes += bytes_of_watch(key);
  session.watched_keys = static_cast<std::uint32_t>(watched.keys.size());
  want_changes();
  return true;
}

void Watches::forget(Session& session) {
  session.watch_is_broken = false;
  const auto known = by_session_.find(session.id());
  if (known == by_session_.end()) return;
  for (const std::string& key : known->second.keys) {
    const auto watched = by_hash_.find(locks_.hash_of(key));
    if (watched == by_hash_.end()) continue;  // it has changed
    std::erase(watched->second, &session);
    if (watched->second.empty()) by_hash_.erase(watched);
  }
  bytes_ -= known->second.bytes;
  session.kept_bytes -= known->second.bytes;
  session.watched_keys = 0;
  by_session_.erase(known);
  want_changes();
}

void Watches::find_broken() {
  locks_.notes().take_changed(changed_);
  for (const std::uint32_t hash : changed_) {
    const auto watched = by_hash_.find(hash);
    if (watched == by_hash_.end()) continue;
    for (Session* session : watched->second) session->watch_is_broken = true;
    by_hash_.erase(watched);
  }
  want_changes();
}

// Asking for a key that is over gives it back, which is a change (rule C5).
bool Watches::is_broken(const Session& session, Instant now) {
  const auto known = by_session_.find(session.id());
  if (known != by_session_.end() && !session.watch_is_broken) {
    for (const std::string& key : known->second.keys) locks_.find(key, now);
  }
  look_at_changed();
  return session.watch_is_broken;
}

}  // namespace redlock::server
