// The state folder: ledger and snapshot of one node, and what a start, a clean stop and --bootstrap
// do with them. The thin shell around recovery.h, which has the decision and its reasons.
//
//   auto folder = StateFolder::open(dir);            // from here on no other process can
//   const Instant start = read_clock(…);             // after open, never before it
//   auto found = folder.value().find();
//   const Decision decision = decide(found.value(), settings, start, fresh_node_id);
//   folder.value().restore(decision, [&](const SavedLock& lock) { … }, …);
//   folder.value().begin_run(decision);              // then serve; write_record(…) now and then
//   …
//   folder.value().write_snapshot(now, …);           // at a clean stop, from snapshot_from on
//
// Every call returns a sentence for the operator when it fails, and then the node must not go on.
#pragma once

#include "server/recovery/recovery.h"
#include "server/shell/ledger_file.h"
#include <redlock/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::server {

// Adds every lock and every mark that is to be saved, once.
using SaveAll = std::function<void(SnapshotWriter&)>;

// What bootstrap() makes of a folder that has a ledger.
enum class WhereLedgerIs { refuse, leave_it };

class StateFolder {
 public:
  // To be moved before begin_run alone. Makes the folder (mode 0700, not those above it) when it is
  // missing; opens and locks the ledger.
  static Result<StateFolder> open(std::string folder);

  // Reads all of it. A snapshot that cannot be used is no failure; a ledger that cannot be read is.
  Result<Found> find();

  // The locks that the decision restores, with their new deadlines; those that have run out are
  // left out. The same for the marks of releases. Before begin_run, which removes the snapshot.
  Status restore(const Decision& decision, const SavedLockVisitor& visit,
                 const SavedMarkVisitor& visit_mark) const;

  // Makes the run of this decision durable. REQUIRES: find() came before.
  Status begin_run(const Decision& decision);

  // While the run is under way: a record with raised or lowered bounds, durably (rule R7). One at a
  // time; on any thread. REQUIRES: begin_run.
  Status write_record(const DurableRecord& record) { return writer_->write(record); }
  // The same file's other part, which the loop's thread writes meanwhile (rule R4).
  LatestDeadlinePage& latest_deadline_page() { return ledger_; }

  // Rule R9. copied_at: the instant after which nothing was executed. Never a damaged one: written
  // under another name, synced, renamed. REQUIRES: begin_run, copied_at >= decision.snapshot_from.
  Status write_snapshot(Instant copied_at, const SaveAll& save_all) const;

  const BootIdentity& boot() const { return boot_; }

 private:
  friend Status bootstrap(const std::string&, std::string_view, std::uint64_t, WhereLedgerIs);

  StateFolder(std::string folder, LedgerFile ledger, BootIdentity boot);

  SnapshotContent read_snapshot_file(const SavedLockVisitor& visit,
                                     const SavedMarkVisitor& visit_mark) const;
  Status make_durable();
  Status discard_snapshot() const;
  std::string snapshot_path() const { return folder_ + "/snapshot"; }

  std::string folder_;
  LedgerFile ledger_;
  BootIdentity boot_;
  std::size_t write_first_ = 0;  // from find(), as the next
  bool has_valid_ledger_ = false;
  std::optional<Decision> running_;     // from begin_run()
  std::optional<LedgerWriter> writer_;  // the same
};

// Rule R1: makes the ledger of a node of a new group, whose first start need not wait. A ledger
// that is there is never replaced. floor: no token of the group was larger; 0: it never gave one.
Status bootstrap(const std::string& folder, std::string_view node_id, std::uint64_t floor,
                 WhereLedgerIs where_ledger_is = WhereLedgerIs::refuse);

}  // namespace redlock::server
