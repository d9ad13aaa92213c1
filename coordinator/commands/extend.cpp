// redlock extend NAME: gives a lock that another process acquired a later deadline, and prints what
// `eval` in a shell needs, also when it fails (shell_lines.h).
#include "base/text/json.h"
#include "base/text/printable.h"
#include "base/time.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/shell_lines.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// False if nobody can read what was printed.
bool print_validity(const Options& options, const Lock& lock) {
  const Duration left = lock.validity_left();
  if (options.json) {
    const JsonObject all = {{"outcome", "extended"},
                            {"validity_ms", floor_ms(left)},
                            {"valid_until", uptime_seconds(lock.valid_until)}};
    print_out("{}\n", all.text());
  } else {
    print_text(validity_lines(lock, left));
  }
  return flush_output();
}

// A lock that is not this holder's any more is over for the shell, too. After any other failure it
// stays valid for as long as was told before.
Over what_is_over(const Error& error) {
  return error.code == ErrorCode::not_held ? Over::the_lock : Over::the_subcommand;
}

int tell(const Options& options, const Result<Lock, Error>& result) {
  if (result) {
    if (print_validity(options, result.value())) return exit_code::kDone;
    complain(fmt::format("{}: it was extended, but that could not be printed",
                         shown_name(options.name)));
    return exit_code::kOutput;
  }
  const int exit_code = exit_code_of(result.error());
  report_failure(options, result.error());
  tell_shell_of_failure(options, what_is_over(result.error()), exit_code);
  return exit_code;
}

}  // namespace

int command_extend(const Options& options, CommandSession& session) {
  return session.run([&] {
    session.client().extend(
        {.name = options.name, .value = options.value, .ttl = options.ttl},
        [&](const Result<Lock, Error>& result) { session.finish(tell(options, result)); });
  });
}

}  // namespace redlock::coordinator
