// What the commands that make keys, or give them another deadline, have in common.
#pragma once

#include "base/time.h"
#include "protocol/resp/reply.h"
#include "server/locks/lock.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/node/refusals.h"

#include <optional>
#include <string_view>

namespace redlock::server {

// Why a key is not left without a deadline where TTLs are required (rule L2). `advice` is what to
// do instead.
protocol::Reply needs_ttl(std::string_view advice);
// The key in such an advice, in quotes where it would not stand as one word; "key" where it is too
// long to be read there, or no text: a client could not read the reply.
std::string key_in_text(std::string_view key);

// Why there can be no such lock: its key or its value is longer than this node takes. Asked first
// by every command that puts a value under a key; a hash is measured as a whole, when it is packed.
inline std::optional<protocol::Reply> refuse_size(const Call& call, std::string_view key,
                                                  std::string_view value = {}) {
  const std::uint64_t value_max = call.node.settings().value_size_limit;
  if (key.size() > kKeyBytesMax) return key_too_long(key);
  if (value.size() > value_max) return value_too_large("value", value.size(), value_max);
  return std::nullopt;
}

// A recovering node and SET … NX in restart-reply held: nil, so that libraries which give up on any
// error ask the other nodes too (rule R10). A script is told what it would be of a lock that
// another holds.
bool answers_held_while_recovering(const Call& call);

// Another value for a key that comes without a TTL of its own: it gets max-ttl where TTLs are
// required (rule L2). nullptr: no memory for it. REQUIRES: refuse_grant() let it pass; there is no
// such lock if it is to be a hash.
const Lock* grant_without_ttl(const Call& call, std::string_view key, std::string_view value,
                              LockKind kind = LockKind::text);

// Tells of a text that was put under a key with a TTL.
void tell_of_grant(const Call& call, std::string_view key);

// Gives a lock back. REQUIRES: there is such a lock.
void release(const Call& call, std::string_view key);

// The same value with another deadline: an extension (rule L4). One that has passed gives the lock
// back. REQUIRES: there is such a lock.
std::optional<protocol::Reply> move_deadline(Call& call, std::string_view key, Instant deadline);
// PERSIST, and GETEX with that option. REQUIRES: the same.
std::optional<protocol::Reply> take_deadline_away(Call& call, std::string_view key);

}  // namespace redlock::server
