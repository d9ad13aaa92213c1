#include "coordinator/front_door/served/commit.h"

#include "base/invariant.h"
#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {
namespace {

CommitOutcome outcome_of(AcquisitionOutcome outcome) {
  switch (outcome) {
    case AcquisitionOutcome::acquired:
      return CommitOutcome::done;
    case AcquisitionOutcome::held:
      return CommitOutcome::otherwise;
    case AcquisitionOutcome::too_late:
      return CommitOutcome::too_late;
    case AcquisitionOutcome::unfenced:
      return CommitOutcome::unfenced;
    default:
      return CommitOutcome::no_quorum;
  }
}

CommitOutcome outcome_of(ExtensionOutcome outcome) {
  if (outcome == ExtensionOutcome::extended) return CommitOutcome::done;
  return outcome == ExtensionOutcome::lost ? CommitOutcome::otherwise : CommitOutcome::no_quorum;
}

CommitOutcome outcome_of(ReleaseOutcome outcome) {
  if (outcome == ReleaseOutcome::released) return CommitOutcome::done;
  return outcome == ReleaseOutcome::not_held ? CommitOutcome::otherwise : CommitOutcome::no_quorum;
}

std::size_t count(const std::vector<Answer>& answers, AnswerKind kind) {
  return static_cast<std::size_t>(std::count_if(
      answers.begin(), answers.end(), [&](const Answer& answer) { return answer.kind == kind; }));
}

}  // namespace

Commit::Commit(Parts parts, std::vector<WantedChange> changes, Duration patience, Instant now,
               std::function<void()> on_end)
    : parts_(parts),
      changes_(std::move(changes)),
      results_(changes_.size()),
      operations_(changes_.size(), kNobody),
      patience_(patience),
      on_end_(std::move(on_end)),
      now_(now) {
  begin_phase(now);
}

// A release or an extension whose client has gone is one all the same (rule D5);
// nobody hears of it.
Commit::~Commit() {
  for (const OperationId operation : operations_) {
    if (operation != kNobody) parts_.group.cancel(operation, now_);
  }
}

Commit::Phase Commit::phase_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::create:
      return Phase::creates;
    case ChangeKind::extend:
    case ChangeKind::shorten:
      return Phase::deadlines;
    case ChangeKind::replace:
      return Phase::replacements;
    case ChangeKind::release:
      return Phase::releases;
    default:
      break;
  }
  INVARIANT(false, "a change that no node can be asked for");
}

bool Commit::only_creates() const {
  return std::all_of(changes_.begin(), changes_.end(),
                     [](const WantedChange& change) { return change.kind == ChangeKind::create; });
}

// From this phase on, to the first that has something to do.
void Commit::begin_phase(Instant now) {
  now_ = now;
  while (phase_ != Phase::over) {
    for (std::size_t at = 0; at < changes_.size(); ++at) {
      if (phase_of(changes_[at].kind) == phase_) begin(at, now);
    }
    if (pending_ > 0) return;
    phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  }
  outcome_ = CommitOutcome::done;
}

void Commit::begin(std::size_t at, Instant now) {
  ++pending_;
  switch (phase_) {
    case Phase::creates:
      return create(at, now);
    case Phase::deadlines:
      return move_deadline(at, now);
    case Phase::replacements:
      return replace(at, now);
    default:
      return release(at, now);
  }
}

void Commit::create(std::size_t at, Instant now) {
  const WantedChange& change = changes_[at];
  AcquireRequest request;
  request.name = change.key;
  request.ttl = padded(change.ttl, parts_.times);
  request.patience = {.wait = patience_, .splits_only = true};
  request.fence = change.fences;
  request.label = change.label;
  request.acquire_within = parts_.times.acquire_time;
  request.make_value = [this, at] {
    return new_record(changes_[at].after->kind, changes_[at].after->payload, parts_.random);
  };
  operations_[at] = parts_.group.acquire(std::move(request), now, [this, at](AcquireResult result) {
    settle(at, {.outcome = outcome_of(result.outcome),
                .value = result.lock.claim ? result.lock.claim->value : std::string(),
                .began = result.began,
                .token = result.lock.token,
                .answers = std::move(result.answers)});
  });
}

void Commit::move_deadline(std::size_t at, Instant now) {
  const WantedChange& change = changes_[at];
  ExtendRequest request{.name = change.key,
                        .value = change.value,
                        .ttl = padded(change.ttl, parts_.times),
                        .shortens = change.kind == ChangeKind::shorten};
  operations_[at] = parts_.group.extend(std::move(request), now, [this, at](ExtendResult result) {
    // It would have been a shortening, had the deadline been known.
    const CommitOutcome outcome = outcome_of(result.outcome);
    const bool met_later =
        outcome == CommitOutcome::done && result.keeps_later && changes_[at].is_guess;
    const bool is_other = met_later || result.met_change;
    settle(at, {.outcome = is_other ? CommitOutcome::otherwise : outcome,
                .may_move = is_other,
                .value = changes_[at].value,
                .began = result.began,
                .token = result.token,
                .answers = std::move(result.answers)});
  });
}

void Commit::replace(std::size_t at, Instant now) {
  const WantedChange& change = changes_[at];
  const Duration ttl = padded(change.ttl, parts_.times);
  ExtendRequest request{.name = change.key,
                        .value = change.value,
                        .ttl = ttl,
                        .shortens = change.move == DeadlineMove::earlier,
                        .replacement = next_record(change.value, change.after->kind,
                                                   change.after->payload, parts_.random),
                        .keeps_deadline = change.move == DeadlineMove::none};
  results_[at].value = *request.replacement;
  operations_[at] = parts_.group.extend(std::move(request), now, [this, at](ExtendResult result) {
    const CommitOutcome outcome =
        result.met_change ? CommitOutcome::otherwise : outcome_of(result.outcome);
    const bool is_nowhere = count(result.answers, AnswerKind::no) == result.answers.size();
    settle(at, {.outcome = outcome,
                .is_partly = outcome == CommitOutcome::otherwise && !is_nowhere,
                .value = std::move(results_[at].value),
                .began = result.began,
                .token = result.token,
                .answers = std::move(result.answers)});
  });
}

void Commit::release(std::size_t at, Instant now) {
  const WantedChange& change = changes_[at];
  results_[at].began = now;
  operations_[at] = parts_.group.release(
      known_lock(change.key, change.value, parts_.worth), now, [this, at](ReleaseResult result) {
        const std::size_t deleted = count(result.answers, AnswerKind::yes);
        const bool is_partly = result.outcome == ReleaseOutcome::released &&
                               deleted < quorum_of(result.answers.size());
        settle(at, {.outcome = is_partly ? CommitOutcome::otherwise : outcome_of(result.outcome),
                    .is_partly = is_partly,
                    .began = results_[at].began,
                    .answers = std::move(result.answers)});
      });
}

void Commit::settle(std::size_t at, CommittedChange result) {
  INVARIANT(pending_ > 0, "an answer to nothing");
  operations_[at] = kNobody;
  results_[at] = std::move(result);
  const bool is_last = --pending_ == 0;
  const bool ends_creates = phase_ == Phase::creates && results_[at].outcome != CommitOutcome::done;
  if (is_last || ends_creates) on_end_();
}

void Commit::go_on(Instant now) {
  now_ = now;
  if (finished()) return;
  for (std::size_t at = 0; at < changes_.size(); ++at) {
    const CommitOutcome outcome = results_[at].outcome;
    if (outcome == CommitOutcome::pending || outcome == CommitOutcome::done) continue;
    if (outcome_ == CommitOutcome::pending || outcome == CommitOutcome::no_quorum) {
      outcome_ = outcome;
    }
  }
  if (finished() && phase_ == Phase::creates) return withdraw_creates(now);
  if (finished()) {
    if (pending_ > 0) outcome_ = CommitOutcome::pending;  // the others of its kind are heard first
    return;
  }
  if (pending_ > 0) return;
  phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  begin_phase(now);
}

// None of them is there any more: those that wait for answers, and those that were got.
void Commit::withdraw_creates(Instant now) {
  for (std::size_t at = 0; at < changes_.size(); ++at) {
    if (changes_[at].kind != ChangeKind::create || operations_[at] == kNobody) continue;
    parts_.group.cancel(std::exchange(operations_[at], kNobody), now);
    --pending_;
  }
  undo_creates(now);
}

void Commit::abandon(Instant now) {
  now_ = now;
  if (!finished()) withdraw_creates(now);
}

void Commit::undo_creates(Instant now) {
  for (std::size_t at = 0; at < changes_.size(); ++at) {
    CommittedChange& result = results_[at];
    if (changes_[at].kind != ChangeKind::create || result.outcome != CommitOutcome::done) continue;
    parts_.group.undo(known_lock(changes_[at].key, result.value, parts_.worth), now);
    result = {};
  }
}

}  // namespace redlock::coordinator
