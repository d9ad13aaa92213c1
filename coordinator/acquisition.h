// One attempt to get a lock: Redlock's heart, as a state machine without a clock or a socket.
//
//   Acquisition attempt({.nodes = 5, .ttl = 30s, .node_timeout = 500ms, .clock_drift = 0.01});
//   attempt.start(now, actions);              // actions: ask every node
//   attempt.on_answer(node, answer, now, actions);  // for each, in any order
//   if (attempt.finished()) …                 // actions may hold undos: carry them out
//
// It finishes at the moment a quorum granted or none can any more (Q1), so a hung node delays
// nothing. It is acquired only if validity is left at the deciding reply (Q2). In every other case
// the lock is undone at each node that may have been asked (Q3), also where the answer was no: an
// answer tells of the node, the undo is for whatever the network did to it.
//
// An attempt is used once and its value is never sent again (Q6).
#pragma once

#include "coordinator/ballot.h"

namespace redlock::coordinator {

enum class AcquisitionOutcome : std::uint8_t {
  pending,
  acquired,
  held,       // too many nodes said no; a quorum of them may well be alive
  no_quorum,  // fewer than a quorum answered at all
  too_late,   // a quorum granted, but nothing of the validity was left
  abandoned,  // by whoever wanted it
};

class Acquisition {
 public:
  explicit Acquisition(const Terms& terms) : terms_(terms), ballot_(terms.nodes) {}

  // `now` is read before the first byte is written.
  void start(Instant now, Actions& actions);
  // `now` is read after the answer's last byte. Answers after the end are welcome and change
  // nothing: a late grant of an acquired lock is one more node that has it.
  void on_answer(NodeIndex node, Answer answer, Instant now, Actions& actions);
  void on_time(Instant now, Actions& actions);
  // The caller does not want it any more. Only while it is pending.
  void abandon(Actions& actions);

  // When on_time wants to be called; nullopt when finished.
  std::optional<Instant> next_deadline() const;

  bool finished() const { return outcome_ != AcquisitionOutcome::pending; }
  AcquisitionOutcome outcome() const { return outcome_; }
  // Of an acquired lock: it must not be relied on from here on.
  Instant valid_until() const { return valid_until_; }
  // Some granted, too few: another coordinator wanted it at the same time.
  bool is_split_vote() const;
  const std::vector<Answer>& answers() const { return ballot_.answers(); }

 private:
  void decide(Instant now, Actions& actions);
  void succeed(Actions& actions);
  void fail(AcquisitionOutcome outcome, Actions& actions);

  Terms terms_;
  Ballot ballot_;
  AcquisitionOutcome outcome_ = AcquisitionOutcome::pending;
  Instant valid_until_;
};

}  // namespace redlock::coordinator
