// redlock extend NAME: gives a lock that another process acquired a later deadline.
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::coordinator {

int word_extend(const Options& options) {
  WordSession session(options);
  const Lock lock = known_lock(options.name, options.value, options.ttl);
  const auto done = [&](const ExtendResult& result) {
    switch (result.outcome) {
      case ExtensionOutcome::extended: {
        const std::int64_t validity_ms = floor_ms(result.valid_until - LockClient::now());
        if (options.json) {
          const nlohmann::json all = {{"outcome", "extended"}, {"validity_ms", validity_ms}};
          fmt::print("{}\n", all.dump());
        } else {
          fmt::print("REDLOCK_VALIDITY_MS={}\n", validity_ms);
        }
        return session.finish(exit_code::kDone);
      }
      case ExtensionOutcome::lost:
        report_failure(options, "not this holder's", result.answers, kExtendWords);
        return session.finish(exit_code::kNo);
      default:
        report_failure(options, "no quorum: " + quorum_sentence(result.answers), result.answers,
                       kExtendWords);
        return session.finish(no_quorum_exit(result.answers));
    }
  };
  return session.run([&] { session.client().extend(lock, done); });
}

}  // namespace redlock::coordinator
