// Walks: the commands under way that are done in pieces, each between two of its pieces.
//
// A look at all keys of a large node takes long. So KEYS looks at some, gives way to others, and
// comes again in its session's next turn, until it has met all. A key that is there all the time is
// met just once; one that comes or goes meanwhile may be met or not, as by SCAN. SUBSCRIBE and its
// siblings do some of their names at a time, and confirm these.
//
// Thread safety: none.
#pragma once

#include "protocol/resp/reply.h"
#include "protocol/session/session.h"

#include <cstdint>
#include <map>
#include <utility>

namespace redlock::server {

struct Walk {
  std::uint32_t next = 0;  // LockTable::scan's; of names, the number of the next
  protocol::Reply found = protocol::Reply::array();
  std::size_t kept_bytes = 0;  // of the session, for `found`
};

class Walks {
 public:
  // What the session's command has come to; a new walk, if it has none. It has none any more.
  Walk take(protocol::Session& session) {
    auto node = walks_.extract(session.id());
    if (!node) return {};
    session.kept_bytes -= node.mapped().kept_bytes;
    return std::move(node.mapped());
  }
  // What it has found counts as the session's memory (maxmemory-clients).
  void keep(protocol::Session& session, Walk walk) {
    walk.kept_bytes = walk.found.memory_bytes();
    session.kept_bytes += walk.kept_bytes;
    walks_.emplace(session.id(), std::move(walk));
  }
  // The session ends, or its command was refused in the middle.
  void forget(protocol::Session& session) {
    if (!walks_.empty()) take(session);
  }

 private:
  std::map<protocol::Session::Id, Walk> walks_;
};

}  // namespace redlock::server
