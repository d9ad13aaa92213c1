#include "coordinator/results/translate.h"

#include "coordinator/quorum/tally.h"
#include "coordinator/results/admission_report.h"
#include "coordinator/results/errors.h"
#include "coordinator/results/public_roster.h"
#include "coordinator/results/survey.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace redlock::coordinator {

Lock public_lock(const HeldLock& lock) {
  return {.name = lock.claim->name,
          .value = lock.claim->value,
          .ttl = lock.ttl,
          .valid_until = lock.valid_until.time_since_epoch(),
          .token = lock.token,
          .round_trips = lock.round_trips};
}

HeldLock held_lock(const Lock& lock) {
  return {.claim = std::make_shared<const Claim>(Claim{lock.name, lock.value}),
          .ttl = lock.ttl,
          .valid_until = Instant(lock.valid_until),
          .token = lock.token,
          .round_trips = lock.round_trips};
}

Result<Lock, Error> translate(const NodeNames& names, const AcquireResult& result) {
  if (result.outcome != AcquisitionOutcome::acquired) return acquisition_error(names, result);
  return public_lock(result.lock);
}

Result<Lock, Error> translate(const NodeNames& names, const ExtendResult& result, Lock lock) {
  if (result.outcome != ExtensionOutcome::extended) return extension_error(names, result);
  lock.valid_until = result.valid_until.time_since_epoch();
  return lock;
}

Result<Done, Error> translate(const NodeNames& names, const ReleaseResult& result) {
  if (result.outcome != ReleaseOutcome::released) return release_error(names, result);
  return Done{};
}

Result<Admitted, Error> translate(const NodeNames& names, const AdmitResult& result,
                                  bool is_new_group) {
  if (result.outcome != AdmissionOutcome::done) return admission_error(names, result, is_new_group);
  return admitted(names, result);
}

Result<GroupChange, Error> translate(const NodeNames& names, const ChangeResult& result,
                                     const Roster& wanted) {
  switch (result.outcome) {
    case RosterOutcome::chosen:
    case RosterOutcome::superseded:
      return GroupChange{public_roster(result.roster), result.roster == wanted, {}};
    case RosterOutcome::early:
      return GroupChange{{}, false, result.wait};
    case RosterOutcome::other_group:
      return Error{
          ErrorCode::other_group,
          "some of these nodes are being made a group with others: " + roster_text(result.roster),
          node_answers(names, result.answers, kSurveyWords)};
    case RosterOutcome::no_successor:
      return Error{ErrorCode::invalid,
                   fmt::format("what is wanted cannot follow the group's roster: {}",
                               trouble_with_successor(result.roster, wanted)),
                   {}};
    case RosterOutcome::outbid:
      return Error{ErrorCode::no_quorum, "others change the group at the same time: try again",
                   node_answers(names, result.answers, kSurveyWords)};
    case RosterOutcome::no_floor:
      return Error{ErrorCode::unfenced,
                   "the counters of those that answer tell no floor for the tokens to go on from: "
                   "redlock status names the nodes that are unfenced, or far from the others",
                   node_answers(names, result.answers, kSurveyWords)};
    default:
      break;
  }
  Error error = no_quorum_error(names, result.answers, kSurveyWords);
  if (wanted.epoch == 1 && error.code == ErrorCode::no_quorum) {
    error.text = "a first roster needs all of its nodes, and not all of them answered";
  }
  return error;
}

Result<std::optional<Holder>, Error> translate_holder(const NodeNames& names,
                                                      const std::vector<NodeFinding>& findings) {
  std::vector<Answer> answers;
  answers.reserve(findings.size());
  for (const NodeFinding& finding : findings) answers.push_back(finding.answer);
  auto holder = holder_of(findings);
  if (!holder && !quorum_voted(answers)) return no_quorum_error(names, answers, kSurveyWords);
  return holder;
}

Result<std::vector<ListedLock>, Error> translate(const NodeNames& names, const ListResult& result) {
  if (!quorum_voted(result.answers)) return no_quorum_error(names, result.answers, kSurveyWords);
  std::vector<ListedLock> locks;
  for (const auto& [name, readings] : result.readings) {
    if (auto holder = holder_of(readings, result.answers.size())) {
      locks.push_back({name, std::move(*holder)});
    }
  }
  return locks;
}

std::vector<NodeState> translate_states(const NodeNames& names,
                                        const std::vector<NodeFinding>& findings,
                                        double clock_drift) {
  std::vector<NodeState> states;
  states.reserve(findings.size());
  for (std::size_t i = 0; i < std::min(findings.size(), names.size()); ++i) {
    states.push_back(node_state(names[i].name, findings[i], clock_drift));
  }
  return states;
}

}  // namespace redlock::coordinator
