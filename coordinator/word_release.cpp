// redlock release NAME: deletes a lock at every node that still holds this value.
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <fmt/format.h>

namespace redlock::coordinator {

int word_release(const Options& options) {
  WordSession session(options);
  const Lock lock = known_lock(options.name, options.value, options.ttl);
  const auto done = [&](const ReleaseResult& result) {
    switch (result.outcome) {
      case ReleaseOutcome::released:
        if (options.json) fmt::print("{}\n", R"({"outcome":"released"})");
        return session.finish(exit_code::kDone);
      case ReleaseOutcome::not_held:
        report_failure(options, "not this holder's", result.answers, kReleaseWords);
        return session.finish(exit_code::kNo);
      default:
        report_failure(options, "no quorum: " + quorum_sentence(result.answers), result.answers,
                       kReleaseWords);
        return session.finish_when_undone(no_quorum_exit(result.answers));
    }
  };
  return session.run([&] { session.client().release(lock, done); });
}

}  // namespace redlock::coordinator
