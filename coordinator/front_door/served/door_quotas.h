// DoorQuotas: how many locks each user has through this door who may have so many only.
//
// A door counts what it gave: another door gives as many again, and what is released there counts
// here until it runs out. A lock that is being taken counts from when its nodes are asked, so that
// many at once are no way around it.
//
// Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/access/user.h"
#include "server/grants/lock_quotas.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

class DoorQuotas {
 public:
  using Keys = std::vector<std::string_view>;

  // How many more locks the user has with those that are taken, which are so until end_taking()
  // says otherwise; nullopt: more than he may have, once those that end have ended. REQUIRES:
  // max_locks > 0; each key once.
  std::optional<std::size_t> begin_taking(const protocol::User& user, const Keys& taken,
                                          const Keys& ended, Instant now) {
    const std::size_t held = held_.count(user.name(), now);
    const std::size_t added = taken.size() - count_his(user, taken);
    if (added == 0) return 0;
    const auto taking = taking_.try_emplace(user.name()).first;
    if (held + taking->second + added > user.limits().max_locks + count_his(user, ended)) {
      end_taking(user, 0);
      return std::nullopt;
    }
    taking->second += added;
    return added;
  }
  void end_taking(const protocol::User& user, std::size_t locks) {
    const auto taking = taking_.find(user.name());
    if (taking == taking_.end()) return;
    taking->second -= locks;
    if (taking->second == 0) taking_.erase(taking);
  }

  // user: nullptr: one who may have any number.
  void note_taken(const protocol::User* user, std::string_view key, Instant deadline) {
    user == nullptr ? held_.end(key) : held_.take(user->name(), key, deadline);
  }
  void move(std::string_view key, Instant deadline) { held_.move(key, deadline); }
  void extend(std::string_view key, Instant deadline) { held_.extend(key, deadline); }
  void end(std::string_view key) { held_.end(key); }

 private:
  std::size_t count_his(const protocol::User& user, const Keys& keys) const {
    return static_cast<std::size_t>(
        std::count_if(keys.begin(), keys.end(),
                      [&](std::string_view key) { return held_.is_of(user.name(), key); }));
  }

  server::LockQuotas held_;
  std::map<std::string, std::size_t, std::less<>> taking_;
};

}  // namespace redlock::coordinator
