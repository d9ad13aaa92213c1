// Takers: which connections took the last locks, for those who ask whose a lock is.
//
// A node does not keep with a lock who took it: that would be ten bytes of each, and a connection
// is not a holder. So what is kept is the last takes, some thousand, each at a place that its key's
// hash tells, where the next of that place takes its room. Whoever is not found is not known.
//
// Pure. Thread safety: none.
#pragma once

#include "protocol/session/session.h"
#include "server/locks/lock.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redlock::server {

class Takers {
 public:
  using Client = protocol::Session::Id;
  static constexpr std::size_t kTakesMax = 4096;

  // key_hash: LockLookup::hash_of(). token: the lock's, which no other lock of its key has.
  // Nothing where that is 0, as of what a front door lays on its scratch: it tells no lock apart.
  void note(std::uint32_t key_hash, std::uint64_t token, Client by) {
    if (token == 0) return;
    if (takes_.empty()) takes_.resize(kTakesMax);
    takes_[key_hash % kTakesMax] = {token, by, key_hash};
  }
  bool is_taken_by(std::uint32_t key_hash, std::uint64_t token, Client client) const {
    if (takes_.empty()) return false;
    const Take& take = takes_[key_hash % kTakesMax];
    return take.key_hash == key_hash && take.token == token && take.by == client;
  }

 private:
  struct Take {
    std::uint64_t token = 0;
    Client by = 0;
    std::uint32_t key_hash = 0;
  };
  std::vector<Take> takes_;  // made when the first is noted
};

}  // namespace redlock::server
