#include "server/recovery/node_start.h"

#include "server/locks/latest_deadline.h"
#include "server/recovery/recovery.h"
#include "server/settings/settings.h"

#include <utility>

namespace redlock::server {

NodeStart node_start(const Decision& decision, const Settings& settings, Instant start,
                     std::string run_id, std::uint64_t hash_seed) {
  NodeStart facts;
  facts.node_id = decision.record.node_id;
  facts.run_id = std::move(run_id);
  facts.run = decision.record.run;
  facts.hash_seed = hash_seed;
  facts.started_at = start;
  facts.cause = restart_cause_name(decision.cause);
  facts.delay = decision.delay;
  facts.grant_from = decision.grant_from;
  facts.snapshot_from = decision.snapshot_from;
  facts.warning = decision.warning;
  facts.admit_from = decision.admit_from;
  facts.fence = {.first = decision.first_token,
                 .bound = decision.record.fencing_bound,
                 .fenced = decision.record.fenced};
  facts.ledger = {.record = decision.record,
                  .latest_deadline = round_up_to_tick(decision.latest_deadline),
                  .max_ttl = settings.max_ttl,
                  .fence_block = settings.fence_block,
                  .now = start};
  return facts;
}

}  // namespace redlock::server
