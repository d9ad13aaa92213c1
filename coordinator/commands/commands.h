// The words of the command line. Each takes the options, does its work, and returns the exit code.
#pragma once

#include "coordinator/cli/options.h"

namespace redlock::coordinator {

int command_run(const Options& options);
int command_acquire(const Options& options);
int command_extend(const Options& options);
int command_release(const Options& options);
int command_holder(const Options& options);
int command_status(const Options& options);
int command_admit(const Options& options);
int command_group(const Options& options);
int command_up(const Options& options);
int command_drill(const Options& options);
int command_bench(const Options& options);

}  // namespace redlock::coordinator
