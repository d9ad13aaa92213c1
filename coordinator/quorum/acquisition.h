// One attempt to get a lock: Redlock's heart, as a state machine without a clock or a socket.
//
//   Acquisition attempt({.nodes = 5, .ttl = 30s, .node_timeout = 500ms, .clock_drift = 0.01});
//   attempt.start(now, actions);              // actions: ask every node
//   attempt.on_answer(node, answer, now, actions);  // for each, in any order
//   attempt.on_confirmed(node, answer, now, actions);  // for each that was asked to confirm
//   if (attempt.finished()) …                 // actions may hold undos: carry them out
//
// It finishes at the moment a quorum granted or none can any more (Q1), so a hung node delays
// nothing. It is acquired only if validity is left at the deciding reply (Q2). In every other case
// the lock is undone at each node that may have been asked (Q3), also where the answer was no: an
// answer tells of the node, the undo is for whatever the network did to it.
//
// With fencing, each grant proposes a token, and one that a quorum stores with the lock's value is
// to be found (rule F3):
//
//   locks    a quorum of proposals is there: t := the largest; a node with p = t has accepted it.
//            One that is more than kLeapMax above the q-th largest counts as none: a single counter
//            that somebody has set, or that was damaged, decides nothing
//   tokens   the others that granted, then or later, are asked to confirm t; a quorum accepted it,
//            and the validity, read again, still stands: acquired
//
// Nodes that saw the same grants propose the same number, so the second round is rarely needed.
// When a quorum locked and no quorum can propose, it fails: never a silent downgrade (rule F4).
//
// An attempt is used once and its value is never sent again (Q6).
#pragma once

#include "coordinator/quorum/ballot.h"

namespace redlock::coordinator {

enum class AcquisitionOutcome : std::uint8_t {
  pending,
  acquired,
  held,       // too many nodes said no; a quorum of them may well be alive
  no_quorum,  // fewer than a quorum answered at all, or took the token
  too_late,   // a quorum granted, but nothing of the validity, or of the time given, was left
  unfenced,   // a quorum granted, but too few of it give tokens (rule F4)
  abandoned,  // by whoever wanted it
};

class Acquisition {
 public:
  explicit Acquisition(const Terms& terms)
      : terms_(terms), locks_(terms.nodes), tokens_(terms.nodes) {}

  // `now` is read before the first byte is written.
  void start(Instant now, Actions& actions);
  // `now` is read after the answer's last byte. Answers after the end are welcome and change
  // nothing: a late grant of an acquired lock is one more node that has it.
  void on_answer(NodeIndex node, Answer&& answer, Instant now, Actions& actions);
  // The same for the answer to a confirm.
  void on_confirmed(NodeIndex node, Answer answer, Instant now, Actions& actions);
  void on_time(Instant now, Actions& actions);
  // The caller does not want it any more. Only while it is pending.
  void abandon(Actions& actions);

  // When on_time wants to be called; nullopt when finished.
  std::optional<Instant> next_deadline() const;

  bool finished() const { return outcome_ != AcquisitionOutcome::pending; }
  AcquisitionOutcome outcome() const { return outcome_; }
  // Of an acquired lock: it must not be relied on from here on.
  Instant valid_until() const { return valid_until_; }
  // What is to be confirmed; of an acquired lock its token. 0 without fencing.
  Token token() const { return token_; }
  // That an acquired lock took: 1, or 2 if the token was to be confirmed.
  unsigned round_trips() const { return was_confirmed_ ? 2 : 1; }
  // Some granted, too few: another coordinator wanted it at the same time.
  bool is_split_vote() const;
  // By node: to the last question that it was asked.
  const std::vector<Answer>& answers() const {
    return is_confirming() ? tokens_.answers() : locks_.answers();
  }
  // The same; the last that is asked of it.
  std::vector<Answer> take_answers() {
    return is_confirming() ? tokens_.take_answers() : locks_.take_answers();
  }

 private:
  bool is_confirming() const { return token_ > 0; }
  Token largest_that_counts() const;
  std::size_t proposals() const;
  bool can_be_fenced() const;
  void decide(Instant now, Actions& actions);
  void decide_locks(Instant now, Actions& actions);
  void decide_token(Instant now, Actions& actions);
  void propose(Instant now, Actions& actions);
  void take_up(NodeIndex node, Actions& actions);
  void conclude(Instant now, Actions& actions);
  void fail(AcquisitionOutcome outcome, Actions& actions);

  Terms terms_;
  Ballot locks_;
  Ballot tokens_;    // who accepted token_; who did not lock cannot
  Token token_ = 0;  // 0: a quorum of proposals is not there yet
  bool was_confirmed_ = false;
  AcquisitionOutcome outcome_ = AcquisitionOutcome::pending;
  Instant valid_until_;
};

}  // namespace redlock::coordinator
