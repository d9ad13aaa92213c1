// redlock release NAME: deletes a lock at every node that still holds this value.
//
// What it prints and its status are decided by a quorum, but it stays until every node has answered
// or the node timeout is over (rule Q3): a node that was still being connected to would keep the
// lock, and an extension that is under way elsewhere could spread it again. A node that refuses the
// connection is not waited for.
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"

#include <fmt/format.h>

namespace redlock::coordinator {

int command_release(const Options& options, CommandSession& session) {
  const auto done = [&](const Result<Done, Error>& result) {
    if (!result) {
      report_failure(options, result.error());
      return session.finish_when_undone(exit_code_of(result.error()));
    }
    if (options.json) print_out("{}\n", R"({"outcome":"released"})");
    session.finish_when_undone(exit_code::kDone);
  };
  return session.run([&] {
    session.client().release({.name = options.name, .value = options.value, .ttl = options.ttl},
                             done);
  });
}

}  // namespace redlock::coordinator
