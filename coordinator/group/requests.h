// What a group is asked for, and what comes of it.
#pragma once

#include "coordinator/group/held_lock.h"
#include "coordinator/group/lock_waits.h"
#include "coordinator/group/retry.h"
#include "coordinator/quorum/acquisition.h"
#include "coordinator/quorum/admission.h"
#include "coordinator/quorum/extension.h"
#include "coordinator/quorum/quorum_read.h"
#include "coordinator/quorum/release.h"
#include "coordinator/roster/roster_change.h"
#include "protocol/resp/reply.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct AcquireResult {
  AcquisitionOutcome outcome;
  HeldLock lock;                // of outcome acquired
  std::vector<Answer> answers;  // of the last attempt, by node
  NodeSet plain = {};           // the nodes that are plain Redis servers: they have no tokens
  Instant began = {};           // the last attempt: read before its first byte was written
};

struct AcquireRequest {
  std::string name;
  Duration ttl = 30s;
  Patience patience = {};
  bool fence = true;       // with a fencing token, or not at all (rule F4)
  std::string label = {};  // empty: the group's
  // Called after each attempt that failed and that another one follows. It must not call the group.
  std::function<void(const AcquireResult&)> on_retry = {};
  // Makes the value of each attempt, never the same again (rule Q6), for others to act on as well:
  // what they extend no undo takes away (rule D5). null: the group's values, which nobody knows.
  std::function<std::string()> make_value = {};
  // An attempt that is decided later than that after it began is undone: `too_late`. nullopt: the
  // validity alone decides. A node gets no more time for its answer.
  std::optional<Duration> acquire_within = std::nullopt;
};

struct ExtendResult {
  ExtensionOutcome outcome;
  Instant valid_until;  // the new one if extended, else the old one
  std::vector<Answer> answers;
  Instant began = {};  // read before the first byte was written
  Token token = 0;     // what a quorum stores with the lock; 0: not the same, or not told
  // A node that voted for it had a later deadline, and keeps that. Plain Redis does not tell.
  bool keeps_later = false;
  // No quorum, as the group's nodes were about to change: whoever reads the lock waits for that.
  bool met_change = false;
};

// For how long nodes are to keep a value that replaced another, or one that will be replaced (rule
// D9): until the attempt that asks for it is over, and whatever began before that is.
constexpr Duration least_time_to_replace(Duration node_timeout) {
  return 2 * node_timeout;
}

// Another deadline for whoever holds exactly this value, by somebody who does not know its validity
// and is not the only one to act on it (rule D8), and perhaps another value (rule D9). It counts
// where nodes still held the value, and nowhere else: a quorum of `yes`. Of the other nodes, those
// that answer `no` are topped up once it has succeeded, counted by nobody.
struct ExtendRequest {
  std::string name;
  std::string value;
  Duration ttl = 30s;
  // The deadline is set, also to an earlier one; nothing is topped up. Otherwise it is never
  // brought forward.
  bool shortens = false;
  // The value that it gets. REQUIRES: never sent before; a quorum is known to hold the one before.
  std::optional<std::string> replacement = std::nullopt;
  // With a replacement: the deadline stays as it is. ttl: what is left of it.
  bool keeps_deadline = false;
};

struct ReleaseResult {
  ReleaseOutcome outcome;
  std::vector<Answer> answers;
};

// Who holds a lock, by a quorum's word (quorum_read.h).
struct ReadRequest {
  std::string name;
  HeldByOf held_by = {};     // what a value tells of its holder; null: each is one's own
  bool wants_token = false;  // a held lock is told as soon as its token is settled
};

struct ReadResult {
  ReadVerdict verdict;  // not unsettled: what is so was finished, or is possible
  // Of verdicts held and possible: see QuorumRead.
  std::string value = {};
  Duration left = 0ns;  // from `began` on
  Token token = 0;
  Instant began = {};  // what was told counts for no instant before it
  // By node: what it holds, and how it answered.
  std::vector<std::optional<NodeReading>> readings = {};
  std::vector<Answer> answers = {};
};

// A wait until a lock seems to be free. It is a hint: by the time it comes the lock may
// be taken again.
// Of somebody who was told that a lock is free, in the line for it, as long as he tries.
using WaitPlace = LockWaits::Ticket;
inline constexpr WaitPlace kNoPlace = 0;

struct WaitRequest {
  std::string name;
  Duration wait;
  // The attempt before did not fail because the lock is held: what nodes tell of it is not what is
  // missing, and it is time to look after a short random time.
  bool has_failed = false;
  // Since when it waits, where that is not from now on.
  std::optional<WaitTicket> ticket = {};
  // Of a wait that ended with `free`, where nothing came of the attempt: it goes on.
  WaitPlace place = kNoPlace;
};

enum class WaitOutcome : std::uint8_t {
  free,  // the nodes said so; told after a short random time where all waiters were told at once
  look,  // too few nodes can tell (plain Redis, broken links): it is time to look
  over,  // the wait is
};

struct WaitResult {
  WaitOutcome outcome;
  // free: nodes that have not called it yet do so, and call nobody else before. It ends with
  // another wait, or with Group::leave_place.
  WaitPlace place = kNoPlace;
};

struct AdmitResult {
  AdmissionOutcome outcome;
  Token floor;                             // what was sent to those that were admitted
  Token least_floor;                       // what an operator's must not be below
  std::vector<Admission::Standing> nodes;  // by node
};

struct ChangeResult {
  RosterOutcome outcome;
  Roster roster;  // chosen, superseded; other_group: the other one; no_successor: the group's
  Duration wait;  // early: for how long
  std::vector<Answer> answers;
};

// By name, and by node, what is held under it.
using ListedNames = std::map<std::string, std::vector<std::optional<NodeReading>>>;

struct ListResult {
  ListedNames readings;
  std::vector<Answer> answers;  // by node: yes, if it told of all that it holds
};

// What one node said to a survey: a reply for each question, as long as the answer is `yes`.
struct NodeFinding {
  Answer answer;
  std::vector<protocol::Reply> replies;
};

}  // namespace redlock::coordinator
