// The recovery decision: what a start makes of what it finds in the state folder (safety.md R, the
// table). A pure function of the folder's content, the settings and one instant.
//
//   found                                     locks      delay
//   a snapshot of the last run                restored   none
//   a ledger of this boot, without one        lost       until the latest deadline that it tells
//   a ledger of another boot, without one     lost       largest TTL granted × (1 + d) + 1 s
//   a ledger of --bootstrap that never ran    none       none
//   no ledger, or none that can be trusted    unknown    max-ttl × (1 + d) + 1 s; unfenced
//
// A start goes like this, and executes no request that touches a lock before the last step is done:
//
//   1. lock the ledger, then read the clock: `start`. An instant from before could lie before the
//      last grant of a process that was still ending, and the wait would be too short.
//   2. read ledger, snapshot and boot identity: Found
//   3. decide
//   4. restore the locks, when the decision says so
//   5. begin_run: the delay and the record of this run are in the ledger, in an order in which no
//      second crash, at any instant, shortens a delay (rule R3)
#pragma once

#include "base/time.h"
#include "server/recovery/ledger.h"
#include "server/recovery/snapshot.h"
#include "server/settings/settings.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::server {

struct Found {
  std::string folder;  // for the texts
  LedgerContent ledger;
  SnapshotContent snapshot;
  BootIdentity boot;  // of this start
};

enum class RestartCause {
  clean_stop,  // a snapshot of the last run
  crash,       // the last run left no snapshot: in this boot
  crash_of_another_boot,
  bootstrapped,    // the first run of a node of a new group (rule R1)
  ledger_missing,  // from here on: nothing is known (row 4)
  ledger_unfinished,
  ledger_damaged,
  ledger_unknown_version,
  ledger_of_another_node,  // the setting node-id names another than the ledger
};

// One word for INFO, such as "clean_stop".
std::string_view restart_cause_name(RestartCause cause);
// The node does not know what it granted: somebody has lost its ledger, and should look.
bool is_loss(RestartCause cause);

// How the locks of a snapshot come back.
struct Restoration {
  bool same_boot = false;
  Instant copied_at;
  Instant start;

  // The deadline of a lock that comes back; nullopt: the lock has run out. Within the same boot it
  // is the saved one, exactly. In another boot it is the full time that was left, counted from
  // `start`: the lock lives longer by the time in between, which is safe.
  std::optional<Instant> deadline(Instant saved) const;
  // The same for an instant that has passed, as far back as this boot's clock goes.
  Instant past(Instant saved) const;
  // As it comes back; nullopt: it has run out. Its views are those of `saved`.
  std::optional<SavedLock> restored(const SavedLock& saved) const;
};

struct Decision {
  RestartCause cause{};
  Duration table_delay{};  // what the table says
  Duration delay{};        // what is in force: the table's, or restart-delay's
  Instant grant_from;      // start + delay; before it the node is recovering (rule R10)
  Instant admit_from;      // an unfenced node is admitted from here on (rule F7)

  // For begin_run: the end of the table's delay, or the last deadline of the restored locks.
  Instant latest_deadline;

  // A stop before this instant leaves no snapshot and so counts as a crash (rule R3). It is the end
  // of the table's delay even when restart-delay is shorter: a clean stop must not wipe out a wait
  // that the next start, under another setting, still owes to the locks of the crashed run.
  Instant snapshot_from;

  std::optional<Restoration> restoration;  // none: the locks are lost, the node starts empty
  DurableRecord record;                    // for begin_run
  std::uint64_t first_token = 0;           // all counters begin here: at the last run's bound
  std::string warning;  // for log and INFO: restart-delay is shorter than is safe; or empty
  std::string report;   // for the log: what was found, how long the node waits, and why
};

// fresh_node_id: make_node_id; used when neither the ledger nor the setting has one.
// REQUIRES: is_node_id(fresh_node_id); settings.node_id is empty or is_node_id.
Decision decide(const Found& found, const Settings& settings, Instant start,
                std::string_view fresh_node_id);

// Of a node that keeps no folder: nothing is known of it, and each start counts as the first of a
// new installation, in which no lock can be live (rule R1). Whoever chooses that vouches for it.
Decision decide_without_folder(const Settings& settings, Instant start,
                               std::string_view fresh_node_id);

// The wait that covers locks of this TTL: ttl × (1 + d) on a clock that is at most 1 + d faster
// than their holders', and one second to spare.
Duration full_delay(Duration largest_ttl, double clock_drift);

// Puts the decision into the ledger. Serve nothing before it has succeeded.
//
// First the latest deadline, then the boot's identity: the other way round, a crash in between
// would leave an instant of another boot's clock under this boot's name. Both before the record: a
// ledger that nothing was known of must not become a valid one before its delay stands in it.
//
// A snapshot that is not used goes first: its run number could come up again in a ledger that is
// made anew, and a later start would take it for that run's. One that is used goes last: until the
// new run is durable, a crash leaves all as it was and the next start can still use it.
// discard_snapshot removes the file durably; a missing one is no failure.
Status begin_run(const Decision& decision, const BootIdentity& boot, LedgerPages& pages,
                 LedgerWriter& ledger, const std::function<Status()>& discard_snapshot);

}  // namespace redlock::server
