// The drills of `redlock drill`. Each takes the options, does its work, and returns the exit code.
#pragma once

#include "coordinator/cli/options.h"

namespace redlock::coordinator {

int drill_check(const Options& options);
int drill_restart(const Options& options);
int drill_chaos(const Options& options);
int drill_partition(const Options& options);
int drill_clock(const Options& options);
int drill_client(const Options& options);

}  // namespace redlock::coordinator
