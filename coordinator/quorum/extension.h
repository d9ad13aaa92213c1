// One attempt to extend a held lock (rule Q4), as a state machine.
//
// Nodes extend what still holds this very value, and never bring a deadline forward. Within the
// known validity they also make the lock where it is missing: a node that was restarted is topped
// up, and counts with those that still held it. It succeeds when a quorum did so and the deciding
// reply was read while the lock was still valid: a validity that has run out is never revived, as
// others may have acted on its end. Failing leaves the old validity as it was; the holder may try
// again until it ends. What was topped up for nothing is undone, or it would be in others' way.
//
// One node at least must still have held it. Nodes that restart do not all forget a valid lock, as
// they recover for as long as it may live: where no node has it, somebody released it.
#pragma once

#include "coordinator/quorum/ballot.h"

namespace redlock::coordinator {

enum class ExtensionOutcome : std::uint8_t {
  pending,
  extended,
  lost,       // so many nodes do not have it any more that no quorum can; or the validity ran out
  no_quorum,  // too few nodes answered: not known
  abandoned,  // by whoever wanted it
};

class Extension {
 public:
  // valid_until: of the lock as it stands; kNever when the caller cannot know (another process).
  Extension(const Terms& terms, Instant valid_until)
      : terms_(terms),
        ballot_(terms.nodes),
        tops_up_(valid_until != kNever),
        valid_until_(valid_until) {}

  // Whether the request may make the lock where it is missing: only its valid holder may do that,
  // and who does not know the validity cannot know that it is.
  bool tops_up() const { return tops_up_; }

  void start(Instant now, Actions& actions);
  void on_answer(NodeIndex node, Answer answer, Instant now, Actions& actions);
  void on_time(Instant now, Actions& actions);
  // The caller does not wait for it any more. Only while it is pending.
  void abandon(Actions& actions);
  std::optional<Instant> next_deadline() const;

  bool finished() const { return outcome_ != ExtensionOutcome::pending; }
  ExtensionOutcome outcome() const { return outcome_; }
  // Extended: the new end of validity, never before the old one. Otherwise the old one.
  Instant valid_until() const { return valid_until_; }
  const std::vector<Answer>& answers() const { return ballot_.answers(); }

 private:
  void decide(Instant now, Actions& actions);
  bool is_still_held() const;
  void finish(ExtensionOutcome outcome, Actions& actions);

  Terms terms_;
  Ballot ballot_;
  bool tops_up_;
  ExtensionOutcome outcome_ = ExtensionOutcome::pending;
  Instant valid_until_;
};

}  // namespace redlock::coordinator
