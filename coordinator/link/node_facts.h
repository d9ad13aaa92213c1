// What a node tells of itself: its kind, its id (rule Q5), and the reply of LOCK.STATUS.
#pragma once

#include "base/time.h"
#include "protocol/resp/reply.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::coordinator {

// A fencing token, or what a node proposes as one; below 2^53. 0: none.
using Token = std::uint64_t;
inline constexpr Token kTokenMax = (Token{1} << 53) - 1;

// Counters that are further apart do not agree: a node lets no single request raise its counter by
// more (rule F1), and no single counter decides for the group (rules F3, F6).
inline constexpr Token kLeapMax = Token{1} << 32;

// Also the dialect that is spoken with it: LOCK.* commands, or SET NX PX and scripts.
enum class NodeKind : std::uint8_t { redlock_node, plain_redis };

// LOCK.STATUS. A field that a node of another version leaves out keeps its default.
struct NodeStatus {
  std::string node_id;
  std::string state;  // "serving", "recovering"
  std::string cause;  // of the restart delay
  Duration delay_left = 0ns;
  std::int64_t locks = 0;
  Token counter = 0;
  Token bound = 0;
  bool fenced = false;
  Duration admit_in = 0ns;  // an unfenced node may be admitted after it (rule F7); 0: now
  Duration max_ttl = 0ns;
  Duration largest_ttl = 0ns;
  std::string version;
};

// Out of a map, or a flat array of keys and values; nullopt if it is neither, names no node id, or
// tells a counter that no node can have.
std::optional<NodeStatus> read_node_status(const protocol::Reply& reply);

// Who votes (rule Q5): a hash of a node's id, as two words are cheaper to compare and to keep than
// two texts. Two nodes whose hashes are the same count as one: a vote is lost, none is given twice.
// 0: not known.
enum class NodeIdentity : std::uint64_t { unknown = 0 };
NodeIdentity identity_of(std::string_view id);

struct NodeFacts {
  NodeKind kind = NodeKind::plain_redis;
  std::string id;          // what counts it: of two addresses with one id, one votes
  NodeStatus status = {};  // of a redlock_node, as it was when the connection began
};

// What identifies a node in its INFO: a redlock-node's node_id, a plain Redis's run_id. Empty when
// there is neither.
std::string_view id_in_info(std::string_view info);

}  // namespace redlock::coordinator
