// redlock drill client: a client of another drill, which starts it. No word for people.
#include "coordinator/cli/node_report.h"
#include "coordinator/commands/drill.h"
#include "coordinator/drill/world/client_process.h"

namespace redlock::coordinator {

int drill_client(const Options& options) {
  const Status ended = run_client_process({.name = options.name,
                                           .seed = options.drill.seed,
                                           .client = options.client,
                                           .ttl = options.ttl,
                                           .fence = options.fence,
                                           .locks = options.drill.locks,
                                           .store = options.drill.store,
                                           .history_file = options.drill.history_file});
  if (ended) return exit_code::kDone;
  complain(ended.error().text);
  return exit_code::kNo;
}

}  // namespace redlock::coordinator
