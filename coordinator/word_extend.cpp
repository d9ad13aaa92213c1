// redlock extend NAME: gives a lock that another process acquired a later deadline.
#include "base/time.h"
#include "coordinator/node_report.h"
#include "coordinator/word.h"
#include "coordinator/word_session.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::coordinator {

int word_extend(const Options& options) {
  WordSession session(options, WordSession::Admits::yes);
  const auto done = [&](const Result<Lock, Error>& result) {
    if (!result) {
      report_failure(options, result.failure());
      return session.finish(exit_code_of(result.failure()));
    }
    const std::int64_t validity_ms = floor_ms(result.value().validity_left());
    if (options.json) {
      const nlohmann::json all = {{"outcome", "extended"}, {"validity_ms", validity_ms}};
      fmt::print("{}\n", all.dump());
    } else {
      fmt::print("REDLOCK_VALIDITY_MS={}\n", validity_ms);
    }
    session.finish(exit_code::kDone);
  };
  return session.run([&] {
    session.client().extend({.name = options.name, .value = options.value, .ttl = options.ttl},
                            done);
  });
}

}  // namespace redlock::coordinator
