// Watches: which session watches which keys, and whose watched keys have changed (WATCH).
//
//   watches.add(session, "printer", now);    // WATCH
//   watches.look_at_changed();          // after each command, script and turn of expiry
//   if (watches.is_broken(session, now)) …    // EXEC: then it does nothing
//   watches.forget(session);            // EXEC, DISCARD, UNWATCH, and the end of the session
//
// Changed is a key that got a value or a deadline, was released, or ran out: while somebody
// watches, the lock table keeps the hash of each such key (locks/key_notes.h). Two keys that
// share their hash, one in four thousand million, are taken for each other: then EXEC does nothing
// for no reason, and its client tries again, as it has to be able to anyway.
//
// A change costs a mark at each session that watches the key. What else they watch is forgotten
// when they are, as their own expense.
//
// Thread safety: none. Invariant: a watched key stands in by_session_, and until it changes its
// hash in by_hash_; the table notes what changes as long as there is one; session.watched_keys
// tells the same.
#pragma once

#include "protocol/session/session.h"
#include "server/locks/lock_table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redlock::server {

// What one connection's watches may take, as all of them are forgotten at once. A bound on their
// number alone would not do, as a word may have megabytes.
inline constexpr std::size_t kWatchedBytesMax = 1024 * 1024;

class Watches {
 public:
  using SessionId = protocol::Session::Id;

  // The table outlives the watches.
  explicit Watches(LockLookup& locks) : locks_(locks) {}
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  // From now on: a key that is over at `now` is given back first, as its end would count as a
  // change. False: the session would watch more than kWatchedBytesMax. REQUIRES: the session is
  // forgotten before it ends.
  [[nodiscard]] bool add(protocol::Session& session, std::string_view key, Instant now);
  // Nothing is watched any more, and nothing has changed.
  void forget(protocol::Session& session);

  void look_at_changed() {
    if (locks_.notes().has_changed()) find_broken();
  }
  // Whether a key that the session watches has changed, or is over by now.
  bool is_broken(const protocol::Session& session, Instant now);

  std::size_t count() const { return by_hash_.size(); }
  // About what the watches take, for maxmemory.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Watched {
    std::set<std::string, std::less<>> keys;
    std::size_t bytes = 0;
  };

  void find_broken();
  void want_changes() { locks_.notes().want(KeyNotes::changed, !by_hash_.empty()); }

  LockLookup& locks_;
  std::map<SessionId, Watched> by_session_;
  // Whose hash is the table's already, which no client knows the key of.
  std::unordered_map<std::uint32_t, std::vector<protocol::Session*>> by_hash_;
  std::size_t bytes_ = 0;
  std::vector<std::uint32_t> changed_;  // kept for its memory
};

}  // namespace redlock::server
