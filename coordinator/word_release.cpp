// redlock release NAME: deletes a lock at every node that still holds this value.
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <fmt/format.h>

namespace redlock::coordinator {

int word_release(const Options& options) {
  WordSession session(options, WordSession::Admits::no);
  const auto done = [&](const Result<Done, Error>& result) {
    if (result) {
      if (options.json) fmt::print("{}\n", R"({"outcome":"released"})");
      return session.finish(exit_code::kDone);
    }
    report_failure(options, result.failure());
    const int exit_code = exit_code_of(result.failure());
    if (result.failure().code == ErrorCode::not_held) return session.finish(exit_code);
    session.finish_when_undone(exit_code);
  };
  return session.run([&] {
    session.client().release({.name = options.name, .value = options.value, .ttl = options.ttl},
                             done);
  });
}

}  // namespace redlock::coordinator
