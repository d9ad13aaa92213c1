// KeyWalks: the KEYS commands under way, each between two of its pieces.
//
// A look at all keys of a large node takes long. So KEYS looks at some, gives way to others, and
// comes again in its session's next turn, until it has met all. A key that is there all the time is
// met just once; one that comes or goes meanwhile may be met or not, as by SCAN.
//
// Thread safety: none.
#pragma once

#include "protocol/reply.h"
#include "protocol/session.h"

#include <cstdint>
#include <map>
#include <utility>

namespace redlock::server {

struct KeyWalk {
  std::uint32_t next = 0;  // LockTable::scan's
  protocol::Reply found = protocol::Reply::array();
};

class KeyWalks {
 public:
  using SessionId = protocol::Session::Id;

  // What the session's KEYS has come to; a new walk, if it has none. It has none any more.
  KeyWalk take(SessionId session) {
    auto node = walks_.extract(session);
    return node ? std::move(node.mapped()) : KeyWalk();
  }
  void keep(SessionId session, KeyWalk walk) { walks_.emplace(session, std::move(walk)); }
  // The session ends, or its KEYS was refused in the middle.
  void forget(SessionId session) {
    if (!walks_.empty()) walks_.erase(session);
  }

 private:
  std::map<SessionId, KeyWalk> walks_;
};

}  // namespace redlock::server
