// One attempt to extend a held lock (rule Q4), as a state machine.
//
// Nodes extend only what still holds this very value, and never bring a deadline forward (the
// script in scripts.h). It succeeds when a quorum did so and the deciding reply was read while the
// lock was still valid: a validity that has run out is never revived, as others may have acted on
// its end. Failing leaves the old validity as it was; the holder may try again until it ends.
#pragma once

#include "coordinator/ballot.h"

namespace redlock::coordinator {

enum class ExtensionOutcome : std::uint8_t {
  pending,
  extended,
  lost,       // so many nodes do not have it any more that no quorum can; or the validity ran out
  no_quorum,  // too few nodes answered: not known
};

class Extension {
 public:
  // valid_until: of the lock as it stands; kNever when the caller cannot know (another process).
  Extension(const Terms& terms, Instant valid_until)
      : terms_(terms), ballot_(terms.nodes), valid_until_(valid_until) {}

  void start(Instant now, Actions& actions);
  void on_answer(NodeIndex node, Answer answer, Instant now, Actions& actions);
  void on_time(Instant now, Actions& actions);
  std::optional<Instant> next_deadline() const;

  bool finished() const { return outcome_ != ExtensionOutcome::pending; }
  ExtensionOutcome outcome() const { return outcome_; }
  // Extended: the new end of validity, never before the old one. Otherwise the old one.
  Instant valid_until() const { return valid_until_; }
  const std::vector<Answer>& answers() const { return ballot_.answers(); }

 private:
  void decide(Instant now, Actions& actions);
  void finish(ExtensionOutcome outcome, Actions& actions);

  Terms terms_;
  Ballot ballot_;
  ExtensionOutcome outcome_ = ExtensionOutcome::pending;
  Instant valid_until_;
};

}  // namespace redlock::coordinator
