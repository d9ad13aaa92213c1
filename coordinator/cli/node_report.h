// Failures, for people and for scripts: the outcome, and where that says more than the outcome, a
// line per node with its address, what it said and how long it took; the same as JSON;
// and the exit status.
#pragma once

#include "coordinator/cli/options.h"
#include "coordinator/cli/shell_lines.h"
#include <redlock/answer.h>

#include <string_view>

namespace redlock::coordinator {

// To standard error; with --json to standard output:
// {"name": …, "outcome": "held", "message": …, "nodes": [{"node": …, "answer": …, …}]}.
void report_failure(const Options& options, const Error& error);

// To standard output, at once; with --json nothing, as no shell evaluates that. A failure to print
// it changes nothing: whoever does not read it does not evaluate it either.
void tell_shell_of_failure(const Options& options, Over over, int exit_code);

// if_held: for ErrorCode::held.
int exit_code_of(const Error& error, int if_held = exit_code::kHeld);

// "redlock: text" on standard error.
void complain(std::string_view text);
// All of a file, in place of what it had. False: it is complained of.
bool write_file(const std::string& path, const std::string& text);

}  // namespace redlock::coordinator
