// What nodes answered, for people: a line per node with its address, what it said and how long it
// took; the same as JSON.
#pragma once

#include "coordinator/answer.h"
#include "coordinator/command_line.h"
#include "coordinator/group.h"

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

// To standard error; with --json to standard output: {"outcome": …, "nodes": [{…}]}.
void report_failure(const Options& options, std::string_view outcome,
                    const std::vector<Answer>& answers, const AnswerWords& words);

// "2 of 5 nodes voted, 3 are needed"; an error is no vote.
std::string quorum_sentence(const std::vector<Answer>& answers);

// 77 if it is passwords that keep a quorum from answering, else 69.
int no_quorum_exit(const std::vector<Answer>& answers);

// Why a lock was not got, as a sentence and as an exit code.
std::string acquisition_failure(const AcquireResult& result);
int acquisition_exit(const AcquireResult& result, int if_held);

// "redlock: text" on standard error.
void complain(std::string_view text);

}  // namespace redlock::coordinator
