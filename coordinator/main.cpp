// The program `redlock`.
#include "base/net/process/standard_streams.h"
#include "coordinator/cli/command_line.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/shell_lines.h"
#include "coordinator/commands/commands.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace {

using namespace redlock::coordinator;

// What `redlock acquire` exported for another lock says nothing of the one that `run` extends; its
// command must not take it for that.
void forget_validity() {
  for (const char* name : kValidityVariables) unsetenv(name);
}

int run_subcommand(Subcommand subcommand, const Options& options) {
  switch (subcommand) {
    case Subcommand::run:
      forget_validity();
      return command_run(options);
    case Subcommand::acquire:
      return command_acquire(options);
    case Subcommand::extend:
      return command_extend(options);
    case Subcommand::release:
      return command_release(options);
    case Subcommand::holder:
      return command_holder(options);
    case Subcommand::status:
      return command_status(options);
    case Subcommand::admit:
      return command_admit(options);
    case Subcommand::group:
      return command_group(options);
    case Subcommand::up:
      return command_up(options);
    case Subcommand::drill:
      return command_drill(options);
    case Subcommand::bench:
      return command_bench(options);
  }
  return exit_code::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  redlock::net::fill_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a node that is gone, or nobody who reads, is an error to handle
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.subcommand) {
    fmt::print(line.exit_code == exit_code::kDone ? stdout : stderr, "{}", line.text);
    fmt::print("{}", line.for_shell);
    return line.exit_code;
  }
  for (const std::string& warning : line.warnings) complain(warning);
  return run_subcommand(*line.subcommand, line.options);
}
