// The words of the command line. Each takes the options, and a session over the nodes where it
// needs one, does its work, and returns the exit code.
#pragma once

#include "coordinator/cli/options.h"
#include "coordinator/commands/session.h"

namespace redlock::coordinator {

int command_run(const Options& options, CommandSession& session);
int command_hold(const Options& options, CommandSession& session);
int command_acquire(const Options& options, CommandSession& session);
int command_extend(const Options& options, CommandSession& session);
int command_release(const Options& options, CommandSession& session);
int command_holder(const Options& options, CommandSession& session);
int command_list(const Options& options, CommandSession& session);
int command_status(const Options& options, CommandSession& session);
int command_admit(const Options& options, CommandSession& session);
int command_bench(const Options& options, CommandSession& session);
int command_group(const Options& options);
int command_up(const Options& options);
int command_drill(const Options& options);
int command_serve(const Options& options);
int command_page(const Options& options);

}  // namespace redlock::coordinator
