// Commit: brings the changes of one run about at a quorum of nodes, each under the condition of the
// very record that it was computed from (rule D7).
//
//   Commit commit(parts, changes, patience, now, [] { … });   // called once it is finished()
//   if (commit.outcome() == CommitOutcome::done) …
//
// All creations come first, and are all there or none: one that fails has the others undone. Then
// deadlines and replacements, then releases; a kind begins when the one before it is decided. Any
// beginning of that order leaves at least as much held as before or as after, so a door that dies
// in the middle frees nothing that somebody relies on.
//
// Nodes that answer "not this" to a release may hold another value of the same lock: one that came
// by a replacement under way (rule D9). So a release is done where a quorum did it, and partly done
// else; and so is a replacement that some node made and no quorum. A reading tells what it came to.
//
// An end of the Commit before it is finished withdraws creations, and lets all else go on: what was
// sent stays sent (rule D5). Thread safety: none.
#pragma once

#include "base/time.h"
#include "coordinator/front_door/records/record.h"
#include "coordinator/front_door/records/record_change.h"
#include "coordinator/group/group.h"
#include "coordinator/quorum/padding.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::coordinator {

struct WantedChange {
  std::string key;
  ChangeKind kind = ChangeKind::none;      // anything else
  std::string value = {};                  // the exact record that it is about; of create: none yet
  std::optional<SeenRecord> after = {};    // as the run left it; of release: none
  DeadlineMove move = DeadlineMove::none;  // replace
  Duration ttl = 0ns;                      // the client's own; of release: none
  bool fences = false;                     // create: with a token
  std::string label = {};                  // create: who its holder says it is
  bool is_guess = false;                   // the record and its deadline before are one
};

enum class CommitOutcome : std::uint8_t {
  pending,
  done,
  otherwise,  // a quorum says that the record is not that one, or a node that its deadline is not
  no_quorum,  // too few nodes answered: not known
  too_late,   // a creation, beyond the acquire time: it is undone
  unfenced,   // a creation got too few tokens: it is undone
};

// What became of one change.
struct CommittedChange {
  CommitOutcome outcome = CommitOutcome::pending;
  bool is_partly = false;  // otherwise: it may have been done, or may be still
  bool may_move = false;   // otherwise: some nodes may have moved the deadline, or may yet
  // Done, and partly done by a replacement: the record as it stands then. Empty after a release.
  std::string value = {};
  Instant began = {};  // before the first byte of the attempt
  Token token = 0;
  std::vector<Answer> answers = {};
};

class Commit {
 public:
  // All outlive it.
  struct Parts {
    Group& group;
    const DoorTimes& times;
    const RandomBytes& random;
    const Duration& worth;  // of a release: how long the longest lock lives at a node
  };
  // patience: for how long a split vote is tried again. on_end must not end the Commit.
  Commit(Parts parts, std::vector<WantedChange> changes, Duration patience, Instant now,
         std::function<void()> on_end);
  ~Commit();
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;

  // After on_end. Begins the next kind, or is finished.
  void go_on(Instant now);

  bool finished() const { return outcome_ != CommitOutcome::pending; }
  CommitOutcome outcome() const { return outcome_; }
  // REQUIRES of both: finished. In the same order; some may be done of a commit that is not.
  std::vector<WantedChange> take_changes() { return std::exchange(changes_, {}); }
  std::vector<CommittedChange> take_results() { return std::exchange(results_, {}); }
  // Whether it makes locks, and does nothing else.
  bool only_creates() const;
  // Nobody waits for it any more: what it creates is withdrawn, and undone where it is there
  // already. It must end then, without a go_on().
  void abandon(Instant now);

 private:
  enum class Phase : std::uint8_t { creates, deadlines, replacements, releases, over };

  static Phase phase_of(ChangeKind kind);
  void begin_phase(Instant now);
  void begin(std::size_t at, Instant now);
  void create(std::size_t at, Instant now);
  void move_deadline(std::size_t at, Instant now);
  void replace(std::size_t at, Instant now);
  void release(std::size_t at, Instant now);
  void settle(std::size_t at, CommittedChange result);
  void undo_creates(Instant now);
  void withdraw_creates(Instant now);

  Parts parts_;
  std::vector<WantedChange> changes_;
  std::vector<CommittedChange> results_;
  std::vector<OperationId> operations_;
  Duration patience_;
  std::function<void()> on_end_;
  Phase phase_ = Phase::creates;
  std::size_t pending_ = 0;
  CommitOutcome outcome_ = CommitOutcome::pending;
  Instant now_;  // of the last call
};

}  // namespace redlock::coordinator
