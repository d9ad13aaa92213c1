// redlock acquire NAME: prints what `eval` in a shell needs.
#include "base/time.h"
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::coordinator {
namespace {

// False if nobody can read what was printed.
bool print_lock(const Options& options, const Lock& lock) {
  const std::int64_t validity_ms = floor_ms(lock.validity_left());
  if (options.json) {
    const nlohmann::json token = lock.token > 0 ? nlohmann::json(lock.token) : nullptr;
    const nlohmann::json all = {{"name", options.name}, {"outcome", "acquired"},
                                {"value", lock.value},  {"validity_ms", validity_ms},
                                {"token", token},       {"round_trips", lock.round_trips}};
    fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("REDLOCK_VALUE={}\n", lock.value);
    if (lock.token > 0) fmt::print("REDLOCK_TOKEN={}\n", lock.token);
    fmt::print("REDLOCK_VALIDITY_MS={}\n", validity_ms);
  }
  return std::fflush(stdout) == 0;
}

}  // namespace

int word_acquire(const Options& options) {
  WordSession session(options, WordSession::Admits::yes);
  Client::Operation operation = 0;
  bool interrupted = false;
  session.on_interrupt([&](int number) {
    interrupted = true;
    session.client().cancel(operation);
    session.finish_when_undone(exit_code::of_signal(number));
  });
  const auto done = [&](const Result<Lock, Error>& result) {
    if (interrupted) return;
    if (result) {
      if (print_lock(options, result.value())) return session.finish(exit_code::kDone);
      // A lock whose value nobody knows would be held by nobody until its TTL has passed.
      complain(fmt::format("{}: the lock could not be printed; it is released", options.name));
      session.client().release(result.value(), [](const Result<Done, Error>&) {});
      return session.finish_when_undone(exit_code::kOutput);
    }
    report_failure(options, result.failure());
    session.finish_when_undone(exit_code_of(result.failure()));
  };
  return session.run([&] {
    if (interrupted) return;
    operation = session.client().acquire(
        options.name, {.ttl = options.ttl, .wait = options.patience.wait, .fence = options.fence},
        done);
  });
}

}  // namespace redlock::coordinator
