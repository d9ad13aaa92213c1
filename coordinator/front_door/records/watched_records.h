// WatchedRecords: which session watches which keys at a front door,
// and what their records were (WATCH).
//
// EXEC looks at the records again, and does nothing where one is another; what this door itself
// does to a watched key is noted at once, deadlines too, as in Redis.
//
// Thread safety: none. Invariant: a watched key stands in by_session_ and in by_key_.
#pragma once

#include "protocol/session/session.h"

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redlock::coordinator {

// One connection: EXEC reads all of them.
inline constexpr std::size_t kWatchedKeysMax = 32;

struct WatchedRecord {
  std::string key;
  std::optional<std::string> identity;  // of the record (record.h); nullopt: it was free
  bool has_changed = false;
};

class WatchedRecords {
 public:
  using SessionId = protocol::Session::Id;

  // A key that is watched already keeps its first record.
  void add(SessionId session, WatchedRecord record) {
    by_key_.emplace(record.key, session);
    std::string key = record.key;
    by_session_[session].emplace(std::move(key), std::move(record));
  }
  std::size_t count_of(SessionId session) const {
    const auto found = by_session_.find(session);
    return found == by_session_.end() ? 0 : found->second.size();
  }
  // Nothing is watched any more.
  std::vector<WatchedRecord> take(SessionId session) {
    std::vector<WatchedRecord> records;
    auto watched = by_session_.extract(session);
    if (!watched) return records;
    for (auto& [key, record] : watched.mapped()) {
      by_key_.erase({key, session});
      records.push_back(std::move(record));
    }
    return records;
  }
  void forget(SessionId session) { take(session); }
  // The key gets another record, or another deadline.
  void note_change(const std::string& key) {
    const auto least = std::numeric_limits<SessionId>::min();
    for (auto at = by_key_.lower_bound({key, least}); at != by_key_.end() && at->first == key;
         ++at) {
      by_session_[at->second].at(key).has_changed = true;
    }
  }

 private:
  std::map<SessionId, std::map<std::string, WatchedRecord>> by_session_;
  std::set<std::pair<std::string, SessionId>> by_key_;
};

}  // namespace redlock::coordinator
