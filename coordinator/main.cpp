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

int run_word(Word word, const Options& options) {
  switch (word) {
    case Word::run:
      forget_validity();
      return word_run(options);
    case Word::acquire:
      return word_acquire(options);
    case Word::extend:
      return word_extend(options);
    case Word::release:
      return word_release(options);
    case Word::holder:
      return word_holder(options);
    case Word::status:
      return word_status(options);
    case Word::admit:
      return word_admit(options);
    case Word::up:
      return word_up(options);
    case Word::drill:
      return word_drill(options);
    case Word::bench:
      return word_bench(options);
  }
  return exit_code::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  redlock::net::fill_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a node that is gone, or nobody who reads, is an error to handle
  const CommandLine line = parse_command_line(argc, argv);
  if (!line.word) {
    fmt::print(line.exit_code == exit_code::kDone ? stdout : stderr, "{}", line.text);
    fmt::print("{}", line.for_shell);
    return line.exit_code;
  }
  for (const std::string& warning : line.warnings) complain(warning);
  return run_word(*line.word, line.options);
}
