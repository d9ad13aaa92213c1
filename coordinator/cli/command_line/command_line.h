// `redlock WORD …`, read.
#pragma once

#include "coordinator/cli/options.h"

namespace redlock::coordinator {

// Reads the settings file, REDLOCK_NODES and REDLOCK_VALUE as well; standard input for `--value -`.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace redlock::coordinator
