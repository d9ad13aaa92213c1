// LockQuotas: how many locks each user has who may have so many only (max-locks).
//
// Only their locks stand here, by key, with the deadline as it is: whoever changes a lock says so.
// A user is known by name, so that his rules may change. Locks of the last run are nobody's.
//
// Thread safety: none. Invariant: a key is of one user; what ran out is passed over when counted.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::server {

class LockQuotas {
 public:
  bool is_empty() const { return owners_.empty(); }

  // The live locks of the user.
  std::size_t count(std::string_view user, Instant now);
  // REQUIRES: he was counted at this instant.
  bool is_of(std::string_view user, std::string_view key) const;
  void take(std::string_view user, std::string_view key, Instant deadline);
  // The lock has another deadline, or is over. Nothing, if it does not stand here.
  void move(std::string_view key, Instant deadline);
  // The same, where a deadline that is later than this one stays.
  void extend(std::string_view key, Instant deadline);
  void end(std::string_view key);
  void clear();

 private:
  using ByDeadline = std::set<std::pair<Instant, std::string>>;
  struct Owner {
    std::string user;
    Instant deadline;
  };
  using Owners = std::map<std::string, Owner, std::less<>>;

  void remove(Owners::iterator at);

  Owners owners_;                                        // by key
  std::map<std::string, ByDeadline, std::less<>> keys_;  // by user
};

}  // namespace redlock::server
