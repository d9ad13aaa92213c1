// The group's locks and results in the library's words.
#pragma once

#include "coordinator/group/group.h"
#include <redlock/client.h>

#include <optional>
#include <vector>

namespace redlock::coordinator {

Lock public_lock(const HeldLock& lock);
HeldLock held_lock(const Lock& lock);

using NodeNames = std::vector<Group::Node>;

// What came of an operation: what its caller asked for, or why it failed. Of an extension `lock` is
// the one that was to be extended; is_new_group as admission_error() has it.
Result<Lock, Error> translate(const NodeNames& names, const AcquireResult& result);
Result<Lock, Error> translate(const NodeNames& names, const ExtendResult& result, Lock lock);
Result<Done, Error> translate(const NodeNames& names, const ReleaseResult& result);
Result<Admitted, Error> translate(const NodeNames& names, const AdmitResult& result,
                                  bool is_new_group);
Result<GroupChange, Error> translate(const NodeNames& names, const ChangeResult& result,
                                     const Roster& wanted);
// Of surveys that asked kHolderQuestions and kStateQuestions.
Result<std::optional<Holder>, Error> translate_holder(const NodeNames& names,
                                                      const std::vector<NodeFinding>& findings);
// Without a quorum of whole walks nobody knows what there is.
Result<std::vector<ListedLock>, Error> translate(const NodeNames& names, const ListResult& result);
std::vector<NodeState> translate_states(const NodeNames& names,
                                        const std::vector<NodeFinding>& findings,
                                        double clock_drift);

}  // namespace redlock::coordinator
