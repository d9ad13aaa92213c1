// Failures, for people and for scripts: the outcome, and a line per node with its address, what it
// said and how long it took; the same as JSON; and the exit status.
#pragma once

#include "coordinator/command_line.h"
#include <redlock/answer.h>

#include <string_view>

namespace redlock::coordinator {

// To standard error; with --json to standard output:
// {"name": …, "outcome": "held", "message": …, "nodes": [{"node": …, "answer": …, …}]}.
void report_failure(const Options& options, const Error& error);

// if_held: for ErrorCode::held.
int exit_code_of(const Error& error, int if_held = exit_code::kHeld);

// "redlock: text" on standard error.
void complain(std::string_view text);

}  // namespace redlock::coordinator
