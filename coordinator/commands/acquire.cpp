// redlock acquire NAME: prints what `eval` in a shell needs, also when it fails (shell_lines.h).
#include "base/text/json.h"
#include "base/text/printable.h"
#include "base/time.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/shell_lines.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/lock_wait.h"
#include "coordinator/commands/session.h"

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// False if nobody can read what was printed.
bool print_lock(const Options& options, const Lock& lock) {
  const Duration left = lock.validity_left();
  if (options.json) {
    const Json token = lock.token > 0 ? Json(lock.token) : Json();
    const JsonObject all = {{"name", options.name},
                            {"outcome", "acquired"},
                            {"value", lock.value},
                            {"validity_ms", floor_ms(left)},
                            {"token", token},
                            {"round_trips", lock.round_trips},
                            {"valid_until", uptime_seconds(lock.valid_until)}};
    print_out("{}\n", all.text());
  } else {
    print_text(lock_lines(lock, left));
  }
  return flush_output();
}

}  // namespace

int command_acquire(const Options& options, CommandSession& session) {
  Client::Operation operation = 0;
  bool interrupted = false;
  LockWait wait(options, session);
  const auto fail = [&](int exit_code) {
    tell_shell_of_failure(options, Over::the_lock, exit_code);
    session.finish_when_undone(exit_code);
  };
  session.on_interrupt([&](int number) {
    interrupted = true;
    session.client().cancel(operation);
    wait.end();
    wait.tell_interrupted();
    fail(exit_code::of_signal(number));
  });
  const auto done = [&](const Result<Lock, Error>& result) {
    if (interrupted) return;
    wait.end();
    if (result) {
      wait.tell_success();
      if (print_lock(options, result.value())) return session.finish(exit_code::kDone);
      // A lock whose value nobody knows would be held by nobody until its TTL has passed.
      complain(fmt::format("{}: the lock could not be printed; it is released",
                           shown_name(options.name)));
      session.client().release(result.value(), [](const Result<Done, Error>&) {});
      return fail(exit_code::kOutput);
    }
    wait.report(result.error(), [&, exit_code = exit_code_of(result.error())] {
      if (!interrupted) fail(exit_code);
    });
  };
  return session.run([&] {
    wait.begin();
    operation = session.client().acquire(options.name,
                                         {.ttl = options.ttl,
                                          .wait = options.wait,
                                          .fence = options.fence,
                                          .on_wait = wait.on_wait(),
                                          .tells_every_attempt = options.verbose},
                                         done);
  });
}

}  // namespace redlock::coordinator
