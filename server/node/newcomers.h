// Newcomers: the clients that have yet to give the password, while there is one.
//
// Who has not proved anything may cost little: each has so long to prove it, and together they have
// a share of the places (maxclients). A client that knows the password gets in however many others
// knock: where the share is full, who came first goes.
//
//   newcomers.add(session, now);            // it was opened, or reset
//   newcomers.remove(session);              // it gave the password, or went away
//   newcomers.take_first();                 // at next_deadline(), or when they are too many
//
// Thread safety: none.
#pragma once

#include "protocol/session/session.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace redlock::server {

class Newcomers {
 public:
  using Id = protocol::Session::Id;

  // From the connection's beginning to the password: clients send it first of all.
  static constexpr Duration kTimeMax = 10s;
  // One place in so many; a few in any case, as a program may open several connections at once.
  static constexpr std::uint32_t kShare = 4;
  static constexpr std::uint32_t kPlacesMin = 16;

  void add(Id id, Instant now) {
    remove(id);
    const Instant deadline = later(now, kTimeMax);
    deadlines_.emplace(id, deadline);
    by_deadline_.emplace(deadline, id);
  }

  void remove(Id id) {
    const auto found = deadlines_.find(id);
    if (found == deadlines_.end()) return;
    by_deadline_.erase({found->second, id});
    deadlines_.erase(found);
  }

  // Whether they have more than their share of so many places: then the first is to go.
  bool are_too_many(std::uint32_t places) const {
    return deadlines_.size() > std::max(places / kShare, kPlacesMin);
  }
  std::optional<Instant> next_deadline() const {
    return by_deadline_.empty() ? std::nullopt : std::optional(by_deadline_.begin()->first);
  }
  // The one that came first, taken out. REQUIRES: there is one.
  Id take_first() {
    const Id first = by_deadline_.begin()->second;
    remove(first);
    return first;
  }

 private:
  std::map<Id, Instant> deadlines_;
  std::set<std::pair<Instant, Id>> by_deadline_;
};

}  // namespace redlock::server
