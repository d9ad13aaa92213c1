// What a node is born with: who it is and what its start found (rules R).
#pragma once

#include "base/time.h"
#include "server/locks/fence.h"
#include "server/locks/release_marks.h"
#include "server/recovery/ledger_keeper.h"

#include <cstdint>
#include <string>

namespace redlock::server {

struct NodeStart {
  std::string node_id;  // for life, in the ledger
  std::string run_id;  // 40 hex digits, new at each start; coordinators count nodes by it (rule Q5)
  std::uint64_t run = 0;
  std::uint64_t hash_seed = 0;
  ReleaseMarks::Limits release_marks = {};

  Instant started_at{};
  std::string cause;        // INFO's word: what the start found
  Duration delay{};         // the restart delay in force
  Instant grant_from{};     // before it the node is recovering (rule R10)
  Instant snapshot_from{};  // a stop before it leaves no snapshot (rule R3)
  std::string warning;      // the delay is shorter than the facts demand; or empty

  // As begin_run makes it durable; the defaults are those of a node that keeps no folder.
  Fence::Start fence = {};
  LedgerKeeper::Start ledger = {
      .record = {.largest_ttl = Duration::max(), .fencing_bound = kTokenMax, .fenced = true}};
  Instant admit_from{};  // no admission before it (rule F7)
};

struct Decision;
struct Settings;

// What the decision means for the node that starts at `start`. run_id: 40 hexadecimal digits, and a
// seed that no client knows, both new at each start.
NodeStart node_start(const Decision& decision, const Settings& settings, Instant start,
                     std::string run_id, std::uint64_t hash_seed);

}  // namespace redlock::server
