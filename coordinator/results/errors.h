// What the state machines found, as the library's errors: a code, a sentence, and a line per node.
#pragma once

#include "coordinator/group/group.h"
#include <redlock/answer.h>

#include <string>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

// How "yes" and "no" read for the question that was asked.
struct AnswerWords {
  std::string_view yes;
  std::string_view no;
};
inline constexpr AnswerWords kAcquireWords = {"granted", "held by another"};
inline constexpr AnswerWords kExtendWords = {"extended", "not this holder's"};
inline constexpr AnswerWords kReleaseWords = {"released", "not this holder's"};
inline constexpr AnswerWords kSurveyWords = {"answered", "answered"};

// Answers with the names of their nodes, which come in the same order.
std::vector<NodeAnswer> node_answers(const std::vector<Group::Node>& nodes,
                                     const std::vector<Answer>& answers, const AnswerWords& words);

// Its code tells whether passwords, the nodes' limits or too much at once are the reason. REQUIRES:
// no quorum voted.
Error no_quorum_error(const std::vector<Group::Node>& nodes, const std::vector<Answer>& answers,
                      const AnswerWords& words);

// What was asked cannot be, and no node was.
Error invalid_error(std::string text);

// REQUIRES of all: the operation failed.
Error acquisition_error(const std::vector<Group::Node>& nodes, const AcquireResult& result);
Error extension_error(const std::vector<Group::Node>& nodes, const ExtendResult& result);
Error release_error(const std::vector<Group::Node>& nodes, const ReleaseResult& result);

}  // namespace redlock::coordinator
