// The drills of `redlock drill`. Each takes the options, does its work, and returns the exit code.
#pragma once

#include "coordinator/cli/options.h"

namespace redlock::coordinator {

int drill_restart(const Options& options);
// chaos, partition, clock and run, as the options say.
int drill_play(const Options& options);

}  // namespace redlock::coordinator
