// What a node tells of itself: its kind, its id (rule Q5), and the reply of LOCK.STATUS.
#pragma once

#include "base/roster.h"
#include "base/time.h"
#include "base/token.h"
#include "coordinator/quorum/answer.h"
#include "protocol/resp/reply.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::coordinator {

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
  bool takes_labels = false;

  // Of its group (rules G). Empty standing: a node that knows nothing of groups.
  std::string standing;  // "none", "member", "outside"
  std::string ledger_id;
  Roster roster = {};    // epoch 0: none
  Roster accepted = {};  // for the next epoch, and not known to be chosen
  Duration former_longest_ttl = 0ns;
  Token former_floor = 0;
  std::string clock_drift;
  std::string restart_delay;
  std::string warning;  // that its restart delay is not safe
};

// Out of a map, or a flat array of keys and values; nullopt if it is neither, names no node id, or
// tells a counter or a roster that no node can have.
std::optional<NodeStatus> read_node_status(const protocol::Reply& reply);
// Whether it is what a front door answers to the same question.
bool is_status_of_front_door(const protocol::Reply& reply);

// Until an unfenced node with this LOCK.STATUS can be admitted; 0: now. While it is recovering it
// takes no floor (rule R10).
Duration admissible_in(const NodeStatus& status);

// Why a vote of this node is worth less than a coordinator with this clock-drift believes (rule
// G6); empty: it is not.
std::string unsafe_settings(const NodeStatus& status, double clock_drift);

// Nodes whose ids have the same hash count as one: a vote is lost, none is given twice (rule Q5).
NodeIdentity identity_of(std::string_view id);
// Of a node with its ledger.
NodeIdentity member_identity_of(std::string_view id, std::string_view ledger);

struct NodeFacts {
  NodeKind kind = NodeKind::plain_redis;
  std::string id;          // what counts it: of two addresses with one id, one votes
  NodeStatus status = {};  // of a redlock_node, as it was when the connection began
};

// The field `name:…` of INFO; empty when there is none.
std::string_view info_field(std::string_view info, std::string_view name);

// What identifies a node in its INFO: a redlock-node's node_id, a plain Redis's run_id. Empty when
// there is neither.
std::string_view id_in_info(std::string_view info);

}  // namespace redlock::coordinator
