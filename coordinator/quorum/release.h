// The release of a lock at every node, as a state machine.
//
// It is confirmed when a quorum answered. The other nodes are told all the same: their links keep
// the release until it is answered or the lock has run out (rule Q3), so there is nothing to
// withdraw here.
#pragma once

#include "coordinator/quorum/ballot.h"

namespace redlock::coordinator {

enum class ReleaseOutcome : std::uint8_t {
  pending,
  released,   // a quorum answered and some node deleted it
  not_held,   // a quorum answered and none of it had it: it was not this holder's any more
  no_quorum,  // too few answered; the lock runs out by itself
};

class Release {
 public:
  explicit Release(const Terms& terms) : terms_(terms), ballot_(terms.nodes) {}

  void start(Instant now, Actions& actions);
  void on_answer(NodeIndex node, Answer&& answer, Instant now);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  bool finished() const { return outcome_ != ReleaseOutcome::pending; }
  ReleaseOutcome outcome() const { return outcome_; }
  const std::vector<Answer>& answers() const { return ballot_.answers(); }
  // The same; the last that is asked of it.
  std::vector<Answer> take_answers() { return ballot_.take_answers(); }

 private:
  void decide();

  Terms terms_;
  Ballot ballot_;
  ReleaseOutcome outcome_ = ReleaseOutcome::pending;
};

}  // namespace redlock::coordinator
