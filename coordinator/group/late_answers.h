// What is to be done when nodes answer an operation that is over already.
//
//   - A late grant of an acquired lock: the node is asked to confirm the lock's token (rule F3), so
//     that its counter keeps up and the next acquisition needs one round trip again. It is a
//     witness of the lock from then on, as is one that extended it late.
//   - A late top-up of an extension that failed: it is released (rule Q4). But not when a newer
//     extension of the same lock was begun meanwhile: that one may count on it. Then whoever
//     releases the lock releases it there, or its TTL does.
//   - A node that says late that it lacks what an extension of rule D8 has extended: it is topped
//     up, over the connection that said so.
//
// A node that was topped up by an extension that has not succeeded says to the next that it holds
// the lock. That is no sign that it still held it (rule Q4), so its yes is taken for a top-up.
//
// An entry lives until every node has answered, or its connection has ended: a link completes each
// request once. So there are no more of them than requests in flight.
#pragma once

#include "coordinator/group/held_lock.h"
#include "coordinator/link/link.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace redlock::coordinator {

// A lock for a node that lacks it, after an extension that nobody topped up for (rule D8).
struct TopUp {
  SharedClaim claim;
  Token token;
  Instant ends_at;   // as the extension's quorum was told
  Instant asked_by;  // nodes that answer later than that are not topped up

  // nullopt: it is over.
  std::optional<NodeRequest> request(NodeIdentity node, Instant now) const;
};

class LateAnswers {
 public:
  // An acquired lock, when the nodes `missing` have yet to answer its first question.
  void expect_grants(OperationId operation, const HeldLock& lock, const NodeSet& missing);

  // Every extension, when it begins and when it is over.
  void begin_extension(OperationId operation, const SharedClaim& claim);
  // holds_until: what a node that extended it is a witness for.
  void end_extension(OperationId operation, const HeldLock& lock, bool has_failed,
                     Instant holds_until, const NodeSet& missing);
  // Every answer to an extension under way: sets the answer's topped_up as said above.
  void correct_answer(const std::string& value, Answer& answer);
  // The node is sent a release for what it was topped up with.
  void forget_top_up(NodeIdentity node, const std::string& value);
  // Whether no later extension of the lock was begun, which might count on this one's top-ups.
  bool is_newest_extension(OperationId operation, const std::string& value) const;

  // An extension of rule D8 that succeeded, when the nodes `missing` have yet to answer it.
  void expect_lacks(OperationId operation, const TopUp& top_up, const NodeSet& missing);

  // An answer of an operation that is over. Returns what the node is to be sent.
  std::optional<NodeRequest> on_answer(NodeIndex node, std::uint64_t connection,
                                       const Completion& completion, Instant now);

 private:
  enum class Duty : std::uint8_t { none, confirm, release };
  struct Entry {
    Duty duty;
    RequestKind question;
    HeldLock lock;
    Instant holds_until;
    NodeSet missing;
  };
  struct Extensions {
    OperationId newest;
    std::size_t open = 0;                   // not yet answered by every node
    std::set<NodeIdentity> topped_up = {};  // by those that have not succeeded
  };

  std::optional<NodeRequest> carry_out(const Entry& entry, const Completion& completion,
                                       Instant now) const;
  static void note_witness(NodeIndex node, std::uint64_t connection, const Entry& entry,
                           const Answer& answer, Instant now);
  void note_late_extension(const Entry& entry, const Answer& answer);
  void close_extension(const std::string& value);

  std::optional<NodeRequest> top_up_late(NodeIndex node, const Completion& completion, Instant now);

  struct Lacks {
    TopUp top_up;
    NodeSet missing;
  };

  std::unordered_map<OperationId, Entry> entries_;
  std::unordered_map<OperationId, Lacks> lacks_;
  std::map<std::string, Extensions> extensions_;  // by the lock's value
};

}  // namespace redlock::coordinator
