// The program `redlock`.
#include "base/net/process/standard_streams.h"
#include "coordinator/cli/command_line/command_line.h"
#include "coordinator/cli/messages.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/shell_lines.h"
#include "coordinator/commands/commands.h"

#include <csignal>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

namespace {

using namespace redlock::coordinator;

// What `redlock acquire` exported for another lock says nothing of the one that `run` extends; its
// command must not take it for that.
void forget_validity() {
  for (const char* name : kValidityVariables) unsetenv(name);
}

using Admits = CommandSession::Admits;

// `over`: for whom a shell evaluates what is printed.
int run_over_nodes(int (*command)(const Options&, CommandSession&), const Options& options,
                   Admits admits, std::optional<Over> over = std::nullopt) {
  auto session = CommandSession::begin(options, admits);
  if (session) return command(options, **session);
  const int exit_code = exit_code_of(session.error());
  report_failure(options, session.error());
  if (over) tell_shell_of_failure(options, *over, exit_code);
  return exit_code;
}

int run_subcommand(Subcommand subcommand, const Options& options) {
  switch (subcommand) {
    case Subcommand::run:
      forget_validity();
      return run_over_nodes(command_run, options, Admits::yes);
    case Subcommand::hold:
      return run_over_nodes(command_hold, options, Admits::yes);
    case Subcommand::acquire:
      return run_over_nodes(command_acquire, options, Admits::yes, Over::the_lock);
    case Subcommand::extend:
      return run_over_nodes(command_extend, options, Admits::yes, Over::the_subcommand);
    case Subcommand::release:
      return run_over_nodes(command_release, options, Admits::no);
    case Subcommand::holder:
      return run_over_nodes(command_holder, options, Admits::no);
    case Subcommand::list:
      return run_over_nodes(command_list, options, Admits::no);
    case Subcommand::status:
      if (options.http) return command_page(options);
      return run_over_nodes(command_status, options, Admits::no);
    case Subcommand::admit:
      return run_over_nodes(command_admit, options, Admits::no);
    case Subcommand::bench:
      return run_over_nodes(command_bench, options, Admits::yes);
    case Subcommand::group:
      return command_group(options);
    case Subcommand::up:
      return command_up(options);
    case Subcommand::drill:
      return command_drill(options);
    case Subcommand::serve:
      return command_serve(options);
  }
  return exit_code::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  redlock::net::fill_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a node that is gone, or nobody who reads, is an error to handle
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.subcommand) {
    if (line.exit_code == exit_code::kDone) {
      print_text(line.text);
    } else {
      say(MessageStream::error, line.text);
    }
    print_text(line.for_shell);
    return exit_code_after_output(line.exit_code);
  }
  if (line.options.quiet) be_quiet();
  for (const std::string& warning : line.warnings) complain(warning);
  return exit_code_after_output(run_subcommand(*line.subcommand, line.options));
}
