// What the answers of all nodes to one question come to together.
#pragma once

#include "coordinator/quorum/answer.h"

#include <cstddef>
#include <vector>

namespace redlock::coordinator {

// How many of them are votes: yes or no.
std::size_t votes(const std::vector<Answer>& answers);

// An error is no vote.
bool quorum_voted(const std::vector<Answer>& answers);

// Whether so many nodes gave an answer of this kind that the others are no quorum.
bool leave_no_quorum(const std::vector<Answer>& answers, AnswerKind kind);

// Whether so many nodes granted without a fencing token, or are known to give none (`plain`), that
// the others are no quorum. No admission changes that: one needs a quorum
// of fenced nodes (rule F6).
bool leave_no_tokens(const std::vector<Answer>& answers, const NodeSet& plain);

// Whether so many nodes refuse it for a limit of theirs that no quorum will ever grant it.
bool is_beyond_limits(const std::vector<Answer>& answers);

}  // namespace redlock::coordinator
