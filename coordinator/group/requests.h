// What a group is asked for, and what comes of it.
#pragma once

#include "coordinator/group/held_lock.h"
#include "coordinator/group/retry.h"
#include "coordinator/quorum/acquisition.h"
#include "coordinator/quorum/admission.h"
#include "coordinator/quorum/extension.h"
#include "coordinator/quorum/release.h"
#include "coordinator/roster/roster_change.h"
#include "protocol/resp/reply.h"

#include <functional>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct AcquireResult {
  AcquisitionOutcome outcome;
  HeldLock lock;                // of outcome acquired
  std::vector<Answer> answers;  // of the last attempt, by node
  NodeSet plain = {};           // the nodes that are plain Redis servers: they have no tokens
};

struct AcquireRequest {
  std::string name;
  Duration ttl = 30s;
  Patience patience = {};
  bool fence = true;  // with a fencing token, or not at all (rule F4)
  // Called after each attempt that failed and that another one follows. It must not call the group.
  std::function<void(const AcquireResult&)> on_retry = {};
};

struct ExtendResult {
  ExtensionOutcome outcome;
  Instant valid_until;  // the new one if extended, else the old one
  std::vector<Answer> answers;
};

struct ReleaseResult {
  ReleaseOutcome outcome;
  std::vector<Answer> answers;
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

// What one node said to a survey: a reply for each question, as long as the answer is `yes`.
struct NodeFinding {
  Answer answer;
  std::vector<protocol::Reply> replies;
};

}  // namespace redlock::coordinator
