// GroupParts: what the operations of a group work with and have in common. The group makes it, and
// owns the operations beside it.
#pragma once

#include "base/random.h"
#include "coordinator/group/admission_schedule.h"
#include "coordinator/group/late_answers.h"
#include "coordinator/group/lock_waits.h"
#include "coordinator/group/next_attempt.h"
#include "coordinator/link/link.h"
#include "coordinator/link/named_node.h"
#include "coordinator/quorum/ballot.h"
#include "coordinator/roster/rosters.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct GroupOptions {
  using Node = NamedNode;
  std::vector<Node> nodes;
  Duration node_timeout = 500ms;
  double clock_drift = 0.01;
  bool hear_everyone = false;   // see Terms
  bool as_named = false;        // see Rosters
  bool unsafe_members = false;  // nodes with unsafe_settings() have votes, too
  bool relays = false;          // for a front door's messages: hears those of others (rule D11)
  bool admit_unfenced = true;   // in the background; and look after the group's roster
  std::string label = {};       // of what is acquired: Claim
  // By which waiters take their tickets (rule Q7). null: they show none.
  std::function<WallTime()> wall_clock = {};
};

// What became of a group's questions since it began, for people.
struct GroupFigures {
  std::uint64_t split_votes = 0;    // attempts that failed as others wanted the lock, too
  std::uint64_t second_rounds = 0;  // acquisitions whose token took a second round trip
  std::uint64_t top_ups = 0;        // requests to nodes that lacked a lock
};

struct GroupParts {
  // Makes a value that nobody can guess and that was never used before (rule Q6).
  using ValueSource = std::function<std::string()>;

  // REQUIRES: 1 to kNodesMax nodes.
  GroupParts(GroupOptions wanted, ValueSource source, std::uint64_t seed);
  GroupParts(const GroupParts&) = delete;
  GroupParts& operator=(const GroupParts&) = delete;

  // No single node may cost more than a third of what a lock is worth.
  Terms terms(Duration ttl, bool fencing = false) const;
  // Of what is about no lock: a node gets the whole node timeout.
  Terms terms() const;

  std::size_t ready_links() const;

  // Of whoever begins to wait now: where two begin in one millisecond, a random number decides.
  WaitTicket new_ticket();

  // The nodes are others now.
  void change_nodes(const Rosters::Sources& sources, Instant now);

  const GroupOptions options;  // its nodes are those that the group began with
  Rosters rosters;
  const ValueSource values;
  Random random;
  const std::shared_ptr<RequestWriter> writer = std::make_shared<RequestWriter>();
  std::vector<Link> links;  // by node
  NodeSet settled;          // links that were ready, or failed, once
  LateAnswers late;
  LockWaits waits;
  const NextAttempt::Tickets tickets;
  AdmissionSchedule admissions;
  std::vector<OperationId> awaiting_admission;  // acquisitions that it may help
  GroupFigures figures;
  std::optional<Instant> last_admitted;  // when a node began to give tokens
  // Of the machine that has an event: its operation carries them out within the event. Kept for
  // its memory.
  Actions actions;
};

}  // namespace redlock::coordinator
