// The words of the command line. Each takes the options, does its work, and returns the exit code.
#pragma once

#include "coordinator/cli/options.h"

namespace redlock::coordinator {

int word_run(const Options& options);
int word_acquire(const Options& options);
int word_extend(const Options& options);
int word_release(const Options& options);
int word_holder(const Options& options);
int word_status(const Options& options);
int word_admit(const Options& options);
int word_up(const Options& options);
int word_drill(const Options& options);
int word_bench(const Options& options);

}  // namespace redlock::coordinator
