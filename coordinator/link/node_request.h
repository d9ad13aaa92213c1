// A request to one node, as a value and as bytes; and what the node's reply to it means.
#pragma once

#include "base/wait_ticket.h"
#include "coordinator/link/node_facts.h"
#include "coordinator/quorum/answer.h"
#include "coordinator/quorum/quorum_read.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

// What is asked of a node: of a redlock-node, and in its place of a plain Redis.
enum class RequestKind : std::uint8_t {
  acquire,      // LOCK.ACQUIRE; SET name value NX PX ttl
  extend,       // LOCK.EXTEND; the extension script, or the top-up script
  shorten,      // SET name value IFEQ value PX ttl; the shortening script
  replace,      // LOCK.REPLACE; the replacing script
  release,      // LOCK.RELEASE; the release script
  confirm,      // LOCK.CONFIRM; a plain Redis has no fencing tokens
  wait,         // LOCK.WAIT … PUSH; a plain Redis tells nobody
  get,          // GET
  holder,       // LOCK.HOLDER; the holder script
  read,         // LOCK.HOLDER … VOTE; the holder script
  scan,         // SCAN
  info,         // INFO
  status,       // LOCK.STATUS; INFO
  fence_read,   // LOCK.FENCE READ; a plain Redis has no fencing tokens
  fence_admit,  // LOCK.FENCE ADMIT; a plain Redis has no fencing tokens
  group,        // LOCK.GROUP; a plain Redis is of no group
  subscribe,    // SUBSCRIBE
  publish,      // PUBLISH
};

// What a holder, or one who wants to be, has at the nodes: the lock's name and the value that only
// it knows. Shared by the requests of one operation to all nodes.
struct Claim {
  std::string name;
  std::string value;
  std::string label = {};  // who the holder says it is; empty: not told
  std::string next = {};   // replace: the value that comes in place of `value`
};
using SharedClaim = std::shared_ptr<const Claim>;

// A roster that was chosen, and of what was granted before it was: how long a lock can live, and
// the number that no token is larger than (rule F9); 0: not known.
struct ChosenRoster {
  Roster roster;
  Duration longest = 0ns;
  Token floor = 0;
};
using SharedRoster = std::shared_ptr<const ChosenRoster>;

using SharedWords = std::shared_ptr<const std::vector<std::string>>;

// An operation of a group: its slot among those under way, how often the slot was taken, and the
// operation's attempt. So an answer to an earlier attempt, or to an operation
// that is over, finds nobody.
struct OperationId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // of an operation: from 1
  std::uint32_t attempt = 0;
  friend bool operator==(const OperationId&, const OperationId&) = default;
};
inline constexpr OperationId kNobody = {};

// The waiters of one lock: whom the answer to a LOCK.WAIT is for.
enum class WaitNumber : std::uint64_t { none };

// Whether a released value may come back (rule Q3).
enum class ReleaseKind : std::uint8_t {
  plain,   // it may
  final,   // never
  undo,    // never, and what was extended since it was granted stays (rule D5)
  prefix,  // every value that begins with this one: of a lock that is over (rule D9)
};

struct NodeRequest {
  // Who waits for the answer. kNobody, and no wait: it is sent for its effect.
  OperationId operation = kNobody;
  RequestKind kind = RequestKind::info;
  SharedClaim claim = {};        // null for what asks the node of itself
  Duration ttl = 0ns;            // acquire, extend, shorten, replace; wait: its timeout, 0 cancels
  Instant worth_until = kNever;  // release: from here on the lock has run out by itself
  bool tops_up = false;          // extend: makes the lock where it is missing (rule Q4)
  bool shortens = false;         // replace: the deadline may be brought forward
  // release; of what takes a lock: how it is undone
  ReleaseKind release = ReleaseKind::plain;
  // confirm; extend that tops up; fence_admit: the floor, BEYOND any bound, as it was read as rule
  // F6 says, or is an operator's
  Token token = 0;
  bool tells_label = false;  // acquire, extend that tops up: the node takes the claim's label
  SharedWords words = {};    // group: of LOCK.GROUP; scan, subscribe, publish: of the command
  // Whose answer it is about, and to whom alone it is written (rule Q5). unknown: to whoever is
  // there, as with releases: they can hit nothing but their value.
  NodeIdentity meant_for = NodeIdentity::unknown;
  WaitNumber wait = WaitNumber::none;     // wait: in place of an operation
  std::optional<WaitTicket> ticket = {};  // wait: since when; nullopt: since it comes

  bool is_awaited() const { return operation != kNobody || wait != WaitNumber::none; }
};

// What it keeps of its lock's name and values, and writes to the node.
inline std::size_t bytes_of(const NodeRequest& request) {
  const Claim* claim = request.claim.get();
  if (claim == nullptr) return 0;
  return claim->name.size() + claim->value.size() + claim->label.size() + claim->next.size();
}

// What nodes are told and asked of their group's roster, in the words of LOCK.GROUP.
NodeRequest group_hello(const ChosenRoster& chosen);
NodeRequest group_learn(const ChosenRoster& chosen);
NodeRequest group_prepare(std::uint64_t epoch, const RosterBallot& ballot);
NodeRequest group_accept(const Roster& roster, const RosterBallot& ballot);

enum class ScriptForm : std::uint8_t { by_sha, in_full };

// Whether a node of this kind can be asked this at all:
// tokens, waits and groups are a redlock-node's.
bool can_ask(RequestKind request, NodeKind node);

// Whether its answer counts for an epoch of the group (rule G1).
bool is_vote(RequestKind request);

// In the node's dialect. REQUIRES: can_ask.
void write_node_request(const NodeRequest& request, NodeKind node, ScriptForm form,
                        protocol::OutputBuffer& out);

// What a reply to a request of this kind means, in either dialect. Read strictly: what no sound
// node answers (another shape, a number out of its range, a top-up where none was asked for) is an
// error and never a vote. Of a survey's questions (get and those after it) only LOCK.HOLDER and
// SCAN have a shape to be held to here (as has a `read`, which is a vote); the others are answered
// `yes` by whatever is no error.
Answer classify(RequestKind kind, const protocol::Reply& reply, bool may_top_up = false);

// What a node tells of a lock; nullopt: it holds none of this name. `reply`: to `holder` or `read`,
// and no error.
std::optional<NodeReading> read_holder(const protocol::Reply& reply);

}  // namespace redlock::coordinator

// Of one operation's attempts a table holds the last.
template <>
struct std::hash<redlock::coordinator::OperationId> {
  std::size_t operator()(const redlock::coordinator::OperationId& id) const noexcept {
    return std::hash<std::uint64_t>()((std::uint64_t(id.generation) << 32) | id.slot);
  }
};
