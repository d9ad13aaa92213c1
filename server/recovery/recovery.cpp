#include "server/recovery/recovery.h"

#include "base/invariant.h"
#include "base/text/duration_text.h"
#include "server/locks/fence.h"
#include "server/locks/latest_deadline.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr Duration kSpare = 1s;

// No node starts so often: that is damage (rule R7). The run behind it would be 0, a bootstrapped
// node's, which does not wait.
constexpr std::uint64_t kLastRun = std::numeric_limits<std::uint64_t>::max();

// The latest deadline that a ledger of this boot can tell: what begin_run records of a table's
// delay is the most, and a lock's is rounded up to a tick. A later one is damage (rule R4).
//
// The recorded TTL may be smaller than what an earlier start has waited for: of a raise that was
// not finished one copy alone told, and that one was torn since. To wait for a deadline within
// max-ttl is as safe as for the recorded TTL, as it is the later of the two.
Instant latest_plausible_deadline(Instant start, Duration largest_ttl, double clock_drift) {
  return later(later(start, full_delay(largest_ttl, clock_drift)), kDeadlineTick);
}

RestartCause cause_of_crash(const Found& found, const Settings& settings, Instant start) {
  const VolatilePart& last = found.ledger.volatile_part;
  if (!is_same_boot(last.boot, found.boot)) return RestartCause::crash_of_another_boot;
  const Duration longest = std::max(found.ledger.record.largest_ttl, settings.max_ttl);
  const Instant plausible = latest_plausible_deadline(start, longest, settings.clock_drift);
  return last.latest_deadline <= plausible ? RestartCause::crash : RestartCause::ledger_damaged;
}

RestartCause cause_of_ledger(const LedgerContent& ledger, const Settings& settings) {
  switch (ledger.state) {
    case LedgerState::missing:
      return RestartCause::ledger_missing;
    case LedgerState::unfinished:
      return RestartCause::ledger_unfinished;
    case LedgerState::damaged:
      return RestartCause::ledger_damaged;
    case LedgerState::unknown_version:
      return RestartCause::ledger_unknown_version;
    case LedgerState::valid:
      break;
  }
  if (ledger.record.run == kLastRun) return RestartCause::ledger_damaged;
  if (!settings.node_id.empty() && settings.node_id != ledger.record.node_id) {
    return RestartCause::ledger_of_another_node;
  }
  return ledger.record.run == 0 ? RestartCause::bootstrapped : RestartCause::crash;
}

bool is_crash(RestartCause cause) {
  return cause == RestartCause::crash || cause == RestartCause::crash_of_another_boot;
}

bool is_unknown(RestartCause cause) {
  return cause >= RestartCause::ledger_missing;
}

// Why a snapshot that lies in the folder cannot be used; empty when it can.
std::string snapshot_trouble(const SnapshotContent& snapshot, const DurableRecord& record) {
  if (snapshot.state == SnapshotContent::State::damaged) {
    return fmt::format("the snapshot is damaged: {}", snapshot.trouble);
  }
  if (snapshot.header.node_id != record.node_id) {
    return fmt::format("the snapshot is of another node, {}", snapshot.header.node_id);
  }
  if (snapshot.header.run != record.run) {
    return fmt::format("the snapshot is of run {}, not of the last, {}", snapshot.header.run,
                       record.run);
  }
  return "";
}

bool has_usable_snapshot(const Found& found) {
  return found.snapshot.state != SnapshotContent::State::missing &&
         snapshot_trouble(found.snapshot, found.ledger.record).empty();
}

// An instant of the copy that lies ahead of the clock contradicts the same boot.
Restoration restoration_of(const Found& found, Instant start) {
  const SnapshotHeader& header = found.snapshot.header;
  const bool same = is_same_boot(header.boot, found.boot) && header.copied_at <= start;
  return {.same_boot = same, .copied_at = header.copied_at, .start = start};
}

Duration longest_time_left(const SnapshotContent& snapshot, const Restoration& restoration) {
  const auto latest = restoration.deadline(snapshot.latest_deadline);
  return latest ? *latest - restoration.start : 0ns;
}

// The largest TTL that a power loss in the run that now starts will have to be waited for. Nothing
// here lowers it, also not what could be read of a ledger that is not trusted in anything else; so
// neither a second crash nor a lowered max-ttl ever shortens a delay (rule R3).
Duration largest_ttl_of_run(const Found& found, const Settings& settings,
                            const Decision& decision) {
  const Duration recorded = found.ledger.record.largest_ttl;
  if (is_unknown(decision.cause)) return std::max(settings.max_ttl, recorded);
  if (!decision.restoration) return recorded;
  return std::max(recorded, longest_time_left(found.snapshot, *decision.restoration));
}

// A block of numbers for this run, above all that were given before (rule F1).
std::uint64_t bound_of_run(std::uint64_t last_bound, std::uint64_t fence_block) {
  return last_bound + std::min(fence_block, kTokenMax - std::min(last_bound, kTokenMax));
}

// What the last run left, or what a node that nothing is known of begins with: unfenced.
DurableRecord record_of_last_run(const Found& found, const Settings& settings, RestartCause cause,
                                 std::string_view fresh_node_id) {
  DurableRecord record;
  const bool is_its_own =
      found.ledger.state == LedgerState::valid && cause != RestartCause::ledger_of_another_node;
  if (is_its_own) record = found.ledger.record;
  const bool counts_on = record.run != kLastRun;
  if (!is_its_own || !counts_on) {
    record.node_id = settings.node_id.empty() ? fresh_node_id : settings.node_id;
    record.run = 0;
    record.roster = {};  // what it promised its group is forgotten (rule G4)
  }
  // A node id that is a setting outlives the ledger, and tells nothing of it.
  if (record.run == 0 && !settings.node_id.empty()) record.roster.ledger_id = fresh_node_id;
  if (is_unknown(cause)) record.fenced = false;
  return record;
}

DurableRecord record_of_run(DurableRecord record, const Found& found, const Settings& settings,
                            const Decision& decision) {
  record.run += 1;
  record.largest_ttl = largest_ttl_of_run(found, settings, decision);
  record.fencing_bound = bound_of_run(record.fencing_bound, settings.fence_block);
  return record;
}

// The TTL whose locks the table waits for in full; nullopt: no wait, or until an instant.
std::optional<Duration> awaited_ttl(const Found& found, const Settings& settings,
                                    RestartCause cause) {
  const Duration recorded = found.ledger.record.largest_ttl;
  if (is_unknown(cause)) return std::max(settings.max_ttl, recorded);
  if (cause == RestartCause::crash_of_another_boot) return recorded;
  return std::nullopt;
}

Duration delay_of_table(const Found& found, const Settings& settings, RestartCause cause,
                        Instant start) {
  if (const auto awaited = awaited_ttl(found, settings, cause)) {
    return full_delay(*awaited, settings.clock_drift);
  }
  if (cause != RestartCause::crash) return 0ns;
  return std::max<Duration>(found.ledger.volatile_part.latest_deadline - start, 0ns);
}

// restart-delay speaks of a start without a snapshot; a bootstrapped node has nothing to wait for.
Duration delay_in_force(const RestartDelay& setting, const Decision& decision) {
  const bool is_wait = is_crash(decision.cause) || is_unknown(decision.cause);
  if (!is_wait || setting.mode == RestartDelay::Mode::by_facts) return decision.table_delay;
  return setting.mode == RestartDelay::Mode::off ? 0ns : setting.fixed;
}

// What the next start of this boot must wait for, whatever restart-delay says of this one.
Instant latest_deadline_of_run(const Found& found, const Decision& decision, Instant start) {
  if (decision.restoration) {
    return later(start, longest_time_left(found.snapshot, *decision.restoration));
  }
  if (decision.cause == RestartCause::crash) return found.ledger.volatile_part.latest_deadline;
  return decision.table_delay == 0ns ? Instant{} : later(start, decision.table_delay);
}

// Told at each start, also one that need not wait: what is too short for a crash of the run that
// begins is told while there is time to change it.
std::string warning_of(const Settings& settings, const Decision& decision) {
  const RestartDelay& setting = settings.restart_delay;
  if (setting.mode == RestartDelay::Mode::by_facts) return "";
  const Duration largest = std::max(decision.record.largest_ttl, settings.max_ttl);
  const Duration safe = std::max(decision.table_delay, full_delay(largest, settings.clock_drift));
  const bool is_off = setting.mode == RestartDelay::Mode::off;
  if (!is_off && setting.fixed >= safe) return "";
  return fmt::format(
      "restart-delay {} is not safe: when the run that begins now crashes, its locks can be held "
      "for up to {} more, and the next run would grant them again (restart-delay auto waits as "
      "long as needed)",
      is_off ? "off" : duration_text(setting.fixed), spoken_duration(safe));
}

std::string finding_text(const Found& found, const Settings& settings, RestartCause cause) {
  const std::string& folder = found.folder;
  switch (cause) {
    case RestartCause::clean_stop:
      return fmt::format("Run {} stopped cleanly and left {} lock{}", found.snapshot.header.run,
                         found.snapshot.locks, found.snapshot.locks == 1 ? "" : "s");
    case RestartCause::crash:
      return fmt::format("Run {} ended without a snapshot, in this boot", found.ledger.record.run);
    case RestartCause::crash_of_another_boot:
      return fmt::format("Run {} ended without a snapshot, in another boot",
                         found.ledger.record.run);
    case RestartCause::bootstrapped:
      return "First run of a bootstrapped node: no lock can be live";
    case RestartCause::ledger_missing:
      return fmt::format("No ledger in {}: what this node granted before is not known", folder);
    case RestartCause::ledger_unfinished:
      return fmt::format(
          "The ledger in {} was never written: what this node granted before is not "
          "known",
          folder);
    case RestartCause::ledger_damaged:
      return found.ledger.state == LedgerState::valid
                 ? fmt::format(
                       "The ledger in {} is damaged: no lock can have the deadline it tells",
                       folder)
                 : fmt::format("The ledger in {} is damaged", folder);
    case RestartCause::ledger_unknown_version:
      return fmt::format("The ledger in {} is of a version that this program does not know",
                         folder);
    case RestartCause::ledger_of_another_node:
      return fmt::format("The ledger in {} is that of node {}, and node-id names {}", folder,
                         found.ledger.record.node_id, settings.node_id);
  }
  return "";
}

std::string restoring_text(const Restoration& restoration) {
  return restoration.same_boot
             ? "those still live come back with their deadlines; no delay."
             : "each comes back with the full time that it had left, as this is another boot; no "
               "delay.";
}

std::string reason_text(const Found& found, const Settings& settings, const Decision& decision) {
  const auto awaited = awaited_ttl(found, settings, decision.cause);
  if (!awaited) return "until the last lock that was live has run out";
  const bool is_max_ttl = is_unknown(decision.cause) && *awaited == settings.max_ttl;
  return fmt::format("{} {} × {} + 1 s", is_max_ttl ? "max-ttl" : "the largest TTL granted",
                     duration_text(*awaited), 1 + settings.clock_drift);
}

std::string waiting_text(const Found& found, const Settings& settings, const Decision& decision) {
  const std::string reason = reason_text(found, settings, decision);
  switch (settings.restart_delay.mode) {
    case RestartDelay::Mode::by_facts:
      if (decision.cause == RestartCause::crash) {
        return fmt::format("No new locks for {}, {}.", spoken_duration(decision.delay), reason);
      }
      return fmt::format(
          "No new locks for {} ({}), until every lock that it may have granted has run out.",
          spoken_duration(decision.delay), reason);
    case RestartDelay::Mode::off:
      return fmt::format(
          "It grants at once, as restart-delay is off; this start should have waited for {} ({}).",
          spoken_duration(decision.table_delay), reason);
    case RestartDelay::Mode::fixed:
      return fmt::format(
          "No new locks for {}, as restart-delay says; by the facts this start waits for {} ({}).",
          spoken_duration(decision.delay), spoken_duration(decision.table_delay), reason);
  }
  return "";
}

// Not how a ledger is made by --bootstrap: whoever replaces a disk, or a node, would do that to a
// node whose locks may be live.
std::string admission_note(RestartCause cause) {
  if (!is_unknown(cause)) return "";
  return " Its fencing tokens do not count until its group has admitted it, which those who use "
         "the locks do by themselves. How the nodes of a new group are made: operations.md.";
}

std::string report_of(const Found& found, const Settings& settings, const Decision& decision) {
  std::string text = finding_text(found, settings, decision.cause);
  if (decision.restoration) return text + "; " + restoring_text(*decision.restoration);
  const bool has_snapshot = found.snapshot.state != SnapshotContent::State::missing;
  if (has_snapshot && is_crash(decision.cause)) {
    text += fmt::format(" ({})", snapshot_trouble(found.snapshot, found.ledger.record));
  }
  if (decision.table_delay == 0ns && decision.delay == 0ns) {
    const bool had_locks = decision.cause == RestartCause::crash;
    return text + (had_locks ? "; no lock of it is still live. No delay." : ". No delay.");
  }
  return text + ". " + waiting_text(found, settings, decision) + admission_note(decision.cause);
}

}  // namespace

bool is_loss(RestartCause cause) {
  return is_unknown(cause);
}

std::string_view restart_cause_name(RestartCause cause) {
  switch (cause) {
    case RestartCause::clean_stop:
      return "clean_stop";
    case RestartCause::crash:
      return "crash";
    case RestartCause::crash_of_another_boot:
      return "crash_of_another_boot";
    case RestartCause::bootstrapped:
      return "bootstrapped";
    case RestartCause::ledger_missing:
      return "ledger_missing";
    case RestartCause::ledger_unfinished:
      return "ledger_unfinished";
    case RestartCause::ledger_damaged:
      return "ledger_damaged";
    case RestartCause::ledger_unknown_version:
      return "ledger_unknown_version";
    case RestartCause::ledger_of_another_node:
      return "ledger_of_another_node";
  }
  return "";
}

std::optional<Instant> Restoration::deadline(Instant saved) const {
  if (saved == kNever) return kNever;
  const Instant before = same_boot ? start : copied_at;
  if (saved <= before) return std::nullopt;
  return later(start, saved - before);
}

Instant Restoration::past(Instant saved) const {
  if (same_boot) return saved;
  return std::max(start - (copied_at - std::min(saved, copied_at)), Instant());
}

std::optional<SavedLock> Restoration::restored(const SavedLock& saved) const {
  const auto until = deadline(saved.deadline);
  if (!until) return std::nullopt;
  const LockLabel label{saved.label.text, past(saved.label.since)};
  return SavedLock{saved.key, saved.value, *until, saved.token, saved.kind, label};
}

Duration full_delay(Duration largest_ttl, double clock_drift) {
  const Duration stretched = stretch(largest_ttl, clock_drift);
  return stretched > Duration::max() - kSpare ? Duration::max() : stretched + kSpare;
}

Decision decide(const Found& found, const Settings& settings, Instant start,
                std::string_view fresh_node_id) {
  INVARIANT(is_node_id(fresh_node_id), "a node id is 40 hexadecimal digits");
  Decision decision;
  decision.cause = cause_of_ledger(found.ledger, settings);
  if (decision.cause == RestartCause::crash && has_usable_snapshot(found)) {
    decision.cause = RestartCause::clean_stop;
    decision.restoration = restoration_of(found, start);
  } else if (decision.cause == RestartCause::crash) {
    decision.cause = cause_of_crash(found, settings, start);
  }
  decision.table_delay = delay_of_table(found, settings, decision.cause, start);
  decision.delay = delay_in_force(settings.restart_delay, decision);
  decision.grant_from = later(start, decision.delay);
  decision.latest_deadline = latest_deadline_of_run(found, decision, start);
  decision.snapshot_from = later(start, std::max(decision.delay, decision.table_delay));
  DurableRecord last = record_of_last_run(found, settings, decision.cause, fresh_node_id);
  decision.first_token = last.fencing_bound;
  decision.record = record_of_run(std::move(last), found, settings, decision);
  decision.admit_from = later(
      start,
      full_delay(std::max(settings.max_ttl, decision.record.largest_ttl), settings.clock_drift));
  decision.warning = warning_of(settings, decision);
  decision.report = report_of(found, settings, decision);
  return decision;
}

Decision decide_without_folder(const Settings& settings, Instant start,
                               std::string_view fresh_node_id) {
  Decision decision;
  decision.cause = RestartCause::bootstrapped;
  decision.grant_from = start;
  decision.admit_from = start;
  decision.snapshot_from = start;
  decision.record = {
      .node_id = settings.node_id.empty() ? std::string(fresh_node_id) : settings.node_id,
      .run = 1,
      .largest_ttl = settings.max_ttl,
      .fencing_bound = kTokenMax,
      .fenced = true};
  decision.report = "This node keeps no folder: it counts as new, no lock can be live. No delay.";
  return decision;
}

Status begin_run(const Decision& decision, const BootIdentity& boot, LedgerPages& pages,
                 LedgerWriter& ledger, const std::function<Status()>& discard_snapshot) {
  const Instant latest = round_up_to_tick(decision.latest_deadline);
  if (auto told = pages.write_latest_deadline(latest); !told) return told;
  if (auto named = pages.write_boot(boot); !named) return named;
  if (!decision.restoration) {
    if (auto discarded = discard_snapshot(); !discarded) return discarded;
  }
  if (auto written = ledger.write(decision.record); !written) return written;
  return decision.restoration ? discard_snapshot() : Status(Done{});
}

}  // namespace redlock::server
